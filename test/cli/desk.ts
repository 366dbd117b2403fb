/** The refund desk with more to decide: a grant up to the limit and a ceiling, on a tool that cannot be undone. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param directory of the template `refund`, as it is written */
export function makeIrreversible(directory: string): void {
  cpSync(join(import.meta.dirname, 'desk'), directory, { recursive: true })
  for (const path of ['policies/large-refunds.yaml', 'scenarios/two-approvers.scenario.yaml'])
    rmSync(join(directory, path))
  const edit = (path: string, from: string, to: string): void => {
    const text = readFileSync(join(directory, path), 'utf8')
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
    writeFileSync(join(directory, path), text.replace(from, to))
  }
  edit('agents/refund-desk.yaml', 'acme.large-refunds', 'acme.small-refunds\n        - acme.refund-ceiling')
  edit('tools/refunds.yaml', 'non_idempotent_write', 'irreversible_action')
}
