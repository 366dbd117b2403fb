/** The file for the browser with everything about passkeys: few tasks ask for one. */
import './first.ts'

export * from './passkey/passkey-ceremony.ts'
export { PasskeysScreen } from './passkey/passkey-screen.tsx'
