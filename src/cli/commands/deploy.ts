import { compare } from 'semver'
import type { Call } from '../command.ts'
import { confirm } from '../confirm.ts'
import { withOperator } from '../operator.ts'
import { openProject } from '../project.ts'
import { agentOf, splitVersion } from '../reference.ts'

export async function deploy(call: Call): Promise<void> {
  const { given, mode, out } = call
  const { name, version } = splitVersion(given.argument(0)!)
  const rollback = given.flag('rollback')
  await withOperator(await openProject(call), call, async (operator) => {
    const agent = await agentOf(name, operator)
    const current = agent.deployed?.versionLabel
    const older = version !== undefined && current !== undefined && compare(version, current, true) < 0
    if (
      (older || rollback) &&
      !(await confirm(
        call,
        `Deploy ${rollback ? 'the previous version' : version} of ${agent.name} again, instead of ${current}?`,
      ))
    )
      return out.say('nothing changed')
    const body = { agent: agent.agentId, ...(version !== undefined && { version }), ...(rollback && { rollback }) }
    const deployed = await operator.call('POST /deploy', { body })
    if (mode.json) return await out.json(deployed)
    const { from, to, runningOnOld } = deployed
    const keep =
      runningOnOld > 0 ? ` (${runningOnOld} ${runningOnOld === 1 ? 'run keeps' : 'runs keep'} running on ${from})` : ''
    out.line(`deployed ${agent.name} ${from === null ? to : `${from} → ${to}`}${keep}`)
  })
}
