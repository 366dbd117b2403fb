/** The file for the browser with the passkeys of a person. */
import './first.ts'

export { PasskeysScreen } from './passkey/passkey-screen.tsx'
