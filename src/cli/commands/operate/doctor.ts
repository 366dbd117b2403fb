import type { CommandContext } from '../../shell/command.ts'
import type { DoctorChecks, DoctorFinding } from '../../doctor/finding.ts'
import { machineChecks } from '../../doctor/machine.ts'
import { channelChecks } from '../../doctor/channels.ts'
import { networkChecks } from '../../doctor/network.ts'
import { stateChecks } from '../../doctor/state.ts'
import { telemetryChecks } from '../../doctor/telemetry.ts'
import { workChecks } from '../../doctor/work.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { openProject } from '../../project/project.ts'
import type { doctorAnswer } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

const checks: DoctorChecks = {
  ...machineChecks,
  ...stateChecks,
  ...workChecks,
  ...networkChecks,
  ...channelChecks,
  ...telemetryChecks,
}

/** A check that is named alone prints nothing when it passes. */
export async function doctor(call: CommandContext<ValueOf<typeof doctorAnswer>>): Promise<number> {
  const { given, mode, out } = call
  const named = given.rest(0)
  const unknown = named.find((each) => !Object.hasOwn(checks, each))
  if (unknown !== undefined) {
    const names = Object.keys(checks)
    throw usageFailure(`There is no check "${unknown}".`, suggestWord(unknown, names, names.join(', ')))
  }
  // The `project` check reports an unreadable project.
  const project = await openProject(call).catch(() => undefined)
  const items: (DoctorFinding & { readonly check: string })[] = []
  for (const name of named.length > 0 ? named : Object.keys(checks))
    items.push({ check: name, ...(await checks[name]!(call, project)) })
  const ok = items.every((each) => each.ok)
  if (mode.json) await out.json({ ok, items })
  else {
    const { theme } = answerScreen(call)
    for (const { ok: well, check, say, fix } of items) {
      if (well && named.length === 0) out.prose(`${theme.ok('✔')} ${check.padEnd(11)} ${say}`)
      if (!well) out.prose(`${theme.bad('✖')} ${check.padEnd(11)} ${say}${fix === undefined ? '' : `\n  fix: ${fix}`}`)
    }
  }
  return ok ? 0 : 1
}
