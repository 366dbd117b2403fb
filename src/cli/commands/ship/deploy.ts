import { compare } from 'semver'
import { isoOrNull } from '../../../base/clock.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { parseEnd } from '../../shell/numbers.ts'
import { publishedClosure } from '../../release/closures.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { lateEdgesOf, printUndeployed } from '../../release/late-edges.ts'
import { holdOlderRuns, warnOfSchedules } from '../../release/older-runs.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import { versionViews } from '../../project/registry.ts'
import type { deployAnswer, preparedAnswer } from '../../answers/ship.ts'
import { signedDeployment } from '../../trust/sign-deployment.ts'
import type { ValueOf } from '../../../operations/schema.ts'

export async function deploy(
  call: CommandContext<ValueOf<typeof deployAnswer> | ValueOf<typeof preparedAnswer>>,
): Promise<void> {
  const { given, mode, out } = call
  const { name, version } = splitVersion(given.required(0))
  const rollback = given.flag('rollback')
  const message = given.text('message')
  const end = given.text('expires')
  const expires = end === undefined ? undefined : parseEnd(end, call.io.clock.now())
  await withOperator(call, async (operator) => {
    const agent = await resolveAgent(name, operator)
    const current = agent.deployed?.versionLabel
    const yanked =
      version !== undefined &&
      (await versionViews(operator, agent.name)).find((each) => each.versionLabel === version && each.yanked)
    let allowYanked = given.flag('allow-yanked')
    if (yanked) {
      const reason = yanked.yankReason === undefined ? '.' : `: ${safeText(yanked.yankReason)}`
      const text = `${agent.name}@${version} is yanked${reason}`
      if (allowYanked && !mode.json) out.message(text)
      if (!allowYanked && mode.interactive) {
        out.message(text)
        allowYanked = await call.io.prompts.confirm('Deploy it all the same?', call.signal)
        if (!allowYanked) return out.message('nothing changed')
      }
    }
    const older = version !== undefined && current !== undefined && compare(version, current, true) < 0
    if (
      (older || rollback) &&
      !(await confirmLoss(
        call,
        `Deploy ${rollback ? 'the previous version' : version} of ${agent.name} again, instead of ${current}?`,
      ))
    )
      return out.message('nothing changed')
    const signed = await signedDeployment(call, operator, { agent, version, rollback, reason: message, expires })
    if (signed?.prepared) {
      const { file, revision } = signed.prepared
      if (mode.json) return await out.json({ file, agent: agent.name, version: signed.version, revision })
      return out.line(
        safeText(`${file}  deployment ${revision} of ${agent.name}@${signed.version}; nothing is deployed`),
      )
    }
    const body = {
      agent: agent.agentId,
      ...(version !== undefined && { version }),
      ...(rollback && { rollback }),
      ...(signed && { version: signed.version, rollback: false, attestation: signed.envelope }),
      ...(!signed && expires !== undefined && { expiresAt: isoOrNull(expires) }),
      ...(allowYanked && { allowYanked }),
      ...(message !== undefined && { message }),
    }
    const deployed = await operator.call('POST /deploy', { body })
    const { from, to, runningOnOld, expiresAt } = deployed
    const until = expiresAt === null ? '' : ` until ${expiresAt}`
    const keep =
      runningOnOld > 0 ? ` (${runningOnOld} ${runningOnOld === 1 ? 'run keeps' : 'runs keep'} running on ${from})` : ''
    if (!mode.json)
      out.line(`deployed ${agent.name} ${from === null || from === to ? to : `${from} → ${to}`}${until}${keep}`)
    const olderRuns = await holdOlderRuns(call, operator, agent.name, to)
    await warnOfSchedules(call, operator, agent.name)
    if (mode.json) await out.json({ ...deployed, ...(olderRuns && { older: olderRuns }) })
    const { agents } = await publishedClosure(operator, `${agent.name}@${to}`)
    await printUndeployed(call, operator, lateEdgesOf([...agents.values()]))
  })
}
