// Uploads an invoice, has it booked, and answers what the agent cannot know. Prints the booking.
// Run: SVC_URL=… SVC_API_KEY=… npx tsx intake.ts AGENT_ID invoice.txt
import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import { fileRef, runToEnd, SvcClient, type TaskDecision, type UserTask } from '@svc-agents/client'

const [agentId = '', path = 'invoice.txt'] = process.argv.slice(2)
const client = new SvcClient({ apiKey: process.env['SVC_API_KEY'] ?? '', baseUrl: process.env['SVC_URL'] ?? '' })

const document = fileRef(await client.uploadWorkspaceFile(await openAsBlob(path), { filename: basename(path) }))
const run = await runToEnd(client, agentId, { document }, { onTask: decide })
process.stdout.write(`${JSON.stringify(run.output)}\n`)

/** A task that is left undecided leaves the run waiting, for a person with `svc inbox`. */
function decide({ kind, title, content }: UserTask): TaskDecision | undefined {
  process.stderr.write(`${kind}: ${title}\n`)
  if (kind === 'multi_option') return { selectedOptionId: content.options![0]!.id }
  if (kind === 'number') return { numberValue: 23_800 }
  return undefined
}
