/** Makes a dataset from runs of a server. Source: docs/design/evals.md#from-runs */
import { resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import type { JsonObject } from '../../../base/json/json.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { readWhole } from '../../../client/whole-conversation.ts'
import { caseOfRun } from '../../eval/case-of-run.ts'
import { MAX_CASES } from '../../eval/dataset.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import { agentOption, momentOptions } from '../../project/request-command.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type { evalFromRunsAnswer } from '../../answers/eval.ts'

const DEFAULT_LIMIT = 100
/** Runs listed per request. */
const PAGE_SIZE = 100

export async function evalFromRuns(call: CommandContext<ValueOf<typeof evalFromRunsAnswer>>): Promise<void> {
  const { given, cwd, mode, out } = call
  if (given.text('agent') === undefined) throw usageFailure('Say of which agent: --agent namespace.name.')
  const limit = wholeNumber(given.text('limit'), 'limit', 1) ?? DEFAULT_LIMIT
  if (limit > MAX_CASES) throw usageFailure(`--limit takes at most ${MAX_CASES}, which is what one dataset holds.`)
  const file = given.text('out')
  if (mode.json && file === undefined)
    throw usageFailure('With --json the cases go to a file: name it with --out FILE.')
  const cases: JsonObject[] = []
  const skipped: { run: string; why: string }[] = []
  await withOperator(call, async (operator) => {
    const filter = {
      ...(await agentOption(call, operator)),
      ...momentOptions(call, 'since'),
      status: 'Completed,Failed',
      roots: 'true',
    }
    for (let skip = 0; skip < limit;) {
      const take = Math.min(PAGE_SIZE, limit - skip)
      const { items } = await operator.call('GET /runs', {
        query: { ...filter, skip: String(skip), take: String(take) },
      })
      for (const run of items) {
        call.signal.throwIfAborted()
        const conversation = await readWhole((cursor) =>
          operator.call('GET /v1/runs/:id/conversation', {
            id: run.runId,
            query: { ...(cursor !== undefined && { cursor }) },
          }),
        )
        const made = caseOfRun(run, conversation)
        if (typeof made === 'string') skipped.push({ run: run.runId, why: made })
        else cases.push(made)
      }
      if (items.length < take) break
      skip += take
    }
  })
  if (cases.length === 0 && skipped.length === 0)
    throw fail('not_found', { what: `ended run of ${given.text('agent')}` }, { fix: 'Ask for more time: --since 30d.' })
  // The oldest first, as they happened.
  const lines = cases.reverse().map((each) => JSON.stringify(each))
  if (file === undefined) lines.forEach(out.line)
  else await writeUserFile(resolve(cwd, file), lines.map((line) => `${line}\n`).join(''))
  if (mode.json) return await out.json({ cases: cases.length, file: file ?? '-', skipped })
  for (const { run, why } of skipped) out.message(`left out: run ${shortId(run)}: ${why}`)
  const where = file === undefined ? '' : ` in ${file}`
  out.message(`${cases.length} ${cases.length === 1 ? 'case' : 'cases'}${where}`)
}
