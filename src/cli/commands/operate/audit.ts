/** `svc audit export` and `svc audit verify`. Source: docs/design/audit.md#the-export */
import { resolve } from 'node:path'
import { digestOf } from '../../../base/digest.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { ActRecord } from '../../../spec/act.ts'
import type { ChainOffence } from '../../../spec/verify-acts.ts'
import type { auditExportAnswer, auditVerifyAnswer } from '../../answers/operate.ts'
import { readUserFile } from '../../files/read-file.ts'
import { writeUserFile } from '../../files/write-file.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { packActs, verifyArchive, type VerifiedActs } from './audit-archive.ts'

export async function auditExport(call: CommandContext<ValueOf<typeof auditExportAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const file = given.argument(0)!
  const isWithout = given.flag('withoutContent')
  const acts = await withOperator(call, readActs)
  const kept = isWithout ? acts.map((act) => ({ ...act, content: null, salt: null })) : acts
  const bytes = await packActs(kept)
  await writeUserFile(resolve(cwd, file), bytes, 0o600)
  const head = acts.at(-1)?.hash ?? null
  if (mode.json) return await out.json({ file, acts: acts.length, head, digest: digestOf(bytes) })
  out.line(`${countNoun(acts.length, 'act')} → ${file}${head === null ? '' : `, head ${head}`}`)
}

const PAGE = 500

async function readActs(operator: OperatorClient): Promise<readonly ActRecord[]> {
  const acts: ActRecord[] = []
  for (;;) {
    const query = { after: String(acts.at(-1)?.seq ?? 0), take: String(PAGE) }
    const { items } = await operator.call('GET /acts/records', { query })
    acts.push(...(items as readonly unknown[] as readonly ActRecord[]))
    if (items.length < PAGE) return acts
  }
}

/** Of an export: some two million acts. */
const MOST_MIB = 1024

/** Exit code 1 where something is not as it was recorded. */
export async function auditVerify(call: CommandContext<ValueOf<typeof auditVerifyAnswer>>): Promise<number> {
  const { given, mode, out, cwd } = call
  const file = given.argument(0)!
  const earlier = given.text('extends')
  const verify = async (named: string): Promise<VerifiedActs> =>
    await verifyArchive(await readUserFile(resolve(cwd, named), named, MOST_MIB))
  const verified = await verify(file)
  const old = earlier === undefined ? undefined : await verify(earlier)
  const offence = verified.offence ?? old?.offence ?? (old ? findOtherHistory(verified, old) : null)
  const acts = verified.hashes.length
  const head = verified.hashes.at(-1) ?? null
  if (mode.json) await out.json({ ok: offence === null, acts, head, offence })
  else if (offence === null)
    out.line(`${countNoun(acts, 'act')}, whole and in order${head === null ? '' : `, head ${head}`}`)
  else out.line(`${offence.rule}: ${offence.what}`)
  return offence === null ? 0 : 1
}

/** The first act that an earlier export has otherwise. */
function findOtherHistory({ hashes }: VerifiedActs, old: VerifiedActs): ChainOffence | null {
  const at = old.hashes.findIndex((hash, index) => hashes[index] !== hash)
  if (at < 0) return null
  const what = at < hashes.length ? 'is another one in' : 'is there no more, but in'
  return { seq: at + 1, rule: 'extends', what: `Act ${at + 1} ${what} the earlier export.` }
}
