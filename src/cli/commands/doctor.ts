import { fail } from '../../base/failure.ts'
import type { Call } from '../command.ts'
import type { Checks, Finding } from '../doctor/finding.ts'
import { machine } from '../doctor/machine.ts'
import { network } from '../doctor/network.ts'
import { state } from '../doctor/state.ts'
import { answerScreen } from '../list.ts'
import { nearest } from '../nearest.ts'
import { openProject } from '../project.ts'

const checks: Checks = { ...machine, ...state, ...network }

/** A check that is named alone says nothing when all is well. */
export async function doctor(call: Call): Promise<number> {
  const { given, mode, out } = call
  const named = given.rest(0)
  const unknown = named.find((each) => !Object.hasOwn(checks, each))
  if (unknown !== undefined) {
    const near = nearest(unknown, Object.keys(checks))
    const fix = near ? `Did you mean ${near}?` : Object.keys(checks).join(', ')
    throw fail('usage', { what: `There is no check "${unknown}".` }, { fix })
  }
  // A project that cannot be read is told by its own check.
  const project = await openProject(call).catch(() => undefined)
  const items: (Finding & { readonly check: string })[] = []
  for (const name of named.length > 0 ? named : Object.keys(checks))
    items.push({ check: name, ...(await checks[name]!(call, project)) })
  const ok = items.every((each) => each.ok)
  if (mode.json) await out.json({ ok, items })
  else {
    const { theme } = answerScreen(call)
    for (const { ok: well, check, say, fix } of items) {
      if (well && named.length === 0) out.line(`${theme.ok('✔')} ${check.padEnd(11)} ${say}`)
      if (!well) out.line(`${theme.bad('✖')} ${check.padEnd(11)} ${say}${fix === undefined ? '' : `\n  fix: ${fix}`}`)
    }
  }
  return ok ? 0 : 1
}
