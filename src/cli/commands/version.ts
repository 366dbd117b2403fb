import type { Call } from '../command.ts'
import { version } from '../version.ts'

export async function versionCommand({ mode, out }: Call): Promise<void> {
  if (!mode.json) return out.line(`svc ${version}`)
  await out.json({ svc: version, node: process.version, platform: process.platform, arch: process.arch })
}
