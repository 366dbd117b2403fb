/** The editor, with its library, as a file of its own: most people never open it. */
import './first.ts'

export { CodeEditor } from './policy/code-editor.ts'
