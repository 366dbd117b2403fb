/** What a deployment leaves behind: runs of versions that allow more, which it offers to hold, and schedules that it breaks. */
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { CommandContext } from '../shell/command.ts'
import { countNoun } from '../shell/counted.ts'

/** Says which schedules of the agent the deployed version would refuse, since nobody watches their ticks. */
export async function warnOfSchedules(
  { out }: Pick<CommandContext, 'out'>,
  operator: OperatorClient,
  agent: string,
): Promise<void> {
  const { items } = await operator.call('GET /triggers', { query: { agent } })
  for (const { triggerId, name, inputProblem } of items)
    if (inputProblem !== null) {
      out.message(`warning: schedule ${safeText(name)} starts nothing any more: ${safeText(inputProblem)}`)
      out.hint(`next:  svc triggers update ${shortId(triggerId)} --input JSON`)
    }
}

/**
 * Pauses the versions with `--hold-older`, or after a question at a terminal. Answers what the deployment leaves behind, for
 * `--json`; nothing where no run may do more.
 * @param agent `namespace.name`
 * @param deployed label of the deployed version
 */
export async function holdOlderRuns(
  call: Pick<CommandContext, 'given' | 'mode' | 'out' | 'io' | 'signal'>,
  operator: OperatorClient,
  agent: string,
  deployed: string,
): Promise<OperatorRoutes['GET /looser-versions']['answer'] | undefined> {
  const { given, mode, out, io, signal } = call
  const { items, triggers } = await operator.call('GET /looser-versions', { query: { agent } })
  const running = items.filter(({ held }) => !held)
  for (const { version, runs, looser } of running) {
    const which = `${countNoun(runs, 'open run')} of ${agent}@${version} ${runs === 1 ? 'keeps' : 'keep'} what ${deployed} does not allow`
    out.message(looser.length === 0 ? `${which}, as far as svc can prove` : `${which}:`)
    for (const sentence of looser) out.message(`  ${safeText(sentence)}`)
  }
  if (triggers.length > 0)
    out.message(
      `keys of ${triggers.map(safeText).join(', ')} may go on with versions that allow more (svc triggers update TRIGGER --no-allow-older-versions)`,
    )
  if (running.length === 0) return items.length === 0 && triggers.length === 0 ? undefined : { items, triggers }
  const isAsked = mode.interactive && !mode.json && !given.flag('hold-older')
  const holds =
    given.flag('hold-older') ||
    (isAsked && (await io.prompts.confirm('Hold these runs until somebody lets them go on?', signal)))
  const names = running.map(({ version }) => `${agent}@${version}`)
  if (!holds) {
    out.hint(`hold them:  ${names.map((name) => `svc stop --version ${name}`).join('; ')}`)
    return { items, triggers }
  }
  for (const name of names) {
    const body = { kind: 'version', name, paused: true, reason: `${deployed} is deployed and allows less` } as const
    await operator.call('POST /pauses', { body })
    out.message(`holding ${name}; svc stop --version ${name} --resume lets it go on`)
  }
  return { items: items.map((each) => ({ ...each, held: true })), triggers }
}
