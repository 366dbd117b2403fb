import type { CommandContext } from '../../shell/command.ts'
import { packageVersion } from '../../shell/version.ts'

export async function versionCommand({ mode, out }: CommandContext): Promise<void> {
  if (!mode.json) return out.line(`svc ${packageVersion}`)
  await out.json({ svc: packageVersion, node: process.version, platform: process.platform, arch: process.arch })
}
