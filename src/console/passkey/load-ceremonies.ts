/** Loads the ceremonies of passkeys. The page says from which file: few tasks ask for one, and what is loaded later stands above the card. */
type Ceremonies = typeof import('./passkey-ceremony.ts')

let load: (() => Promise<Ceremonies>) | undefined

export const provideCeremonies = (from: () => Promise<Ceremonies>): void => void (load = from)

export async function loadCeremonies(): Promise<Ceremonies> {
  if (!load) throw new Error('The page provides no ceremonies of passkeys.')
  return await load()
}
