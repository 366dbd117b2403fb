/**
 * An editor for YAML with findings beside the lines. It lives in a shadow root, where its styles are constructed sheets: in the
 * page the content security policy would refuse them.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { WrittenFinding } from '../../spec/explanation.ts'
import type { View } from '../parts/view.ts'

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--live)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--dim)' },
  { tag: tags.keyword, color: 'var(--warn)' },
])

const theme = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--text)', backgroundColor: 'var(--panel)', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--dim)', border: '0' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--chosen)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line-strong)' },
})

export function CodeEditor({
  text,
  label,
  findings,
  onText,
  onSubmit,
}: {
  /** The text at first; another needs another `key`. */
  readonly text: string
  readonly label: string
  readonly findings: readonly WrittenFinding[]
  readonly onText: (text: string) => void
  /** Ctrl or Cmd with Enter. */
  readonly onSubmit: () => void
}): View {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const act = useRef({ onText, onSubmit })
  act.current = { onText, onSubmit }
  useEffect(() => {
    if (!host.current) return undefined
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          // Text that turns or hides other text is shown as what it is.
          highlightSpecialChars(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          lintGutter(),
          yaml(),
          syntaxHighlighting(colours),
          theme,
          keymap.of([
            { key: 'Mod-Enter', run: () => (act.current.onSubmit(), true) },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) act.current.onText(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const made = view.current
    if (made)
      made.dispatch(
        setDiagnostics(
          made.state,
          findings.map((each) => toDiagnostic(each, made.state.doc.length)),
        ),
      )
  }, [findings])
  return <div class="code-editor" ref={host}></div>
}

const toDiagnostic = ({ start, end, severity, message, rule }: WrittenFinding, length: number): Diagnostic => ({
  from: Math.min(start, length),
  to: Math.min(Math.max(start, end), length),
  severity,
  message: safeText(message),
  source: rule,
})
