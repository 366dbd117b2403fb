/**
 * The project `harbour`: its agent has goods shipped by a tool that reports later, waits for a signal and for a time, and pays with
 * an approval. The world outside keeps the only book of what really happened, and reports each shipment until it is heard.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import {
  deploy,
  serve,
  serveHere,
  svc,
  svcJson,
  writeProject,
  type Access,
  type Project,
  type RunningServer,
  type ServerProcess,
} from './binary.ts'

/** Work outside that was accepted, with the token that ends its call. */
export interface Shipment {
  readonly runId: string
  readonly token: string
}

export interface Harbour {
  readonly project: Project
  readonly access: Access
  readonly shipments: readonly Shipment[]
  /** Runs that paid, in order. */
  readonly payments: readonly string[]
  serve(failpoint?: string): Promise<ServerProcess>
  /** A server that nobody kills. */
  serveHere(): Promise<RunningServer>
  /** Publishes version 1.1.0, whose payments need two people, and leaves the deployed version as it is. */
  publishTighter(): Promise<void>
  /** Every operator's task that waits, decided by the book; a shipment that was accepted reports itself. */
  review(): Promise<void>
  close(): Promise<void>
}

export async function openHarbour(): Promise<Harbour> {
  const shipments: Shipment[] = []
  const payments: string[] = []
  const world = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const {
        tool,
        run,
        completion_token: token,
      } = JSON.parse(text) as {
        tool: string
        run: { id: string }
        completion_token?: string
      }
      if (tool === 'acme.ship') shipments.push({ runId: run.id, token: token! })
      else payments.push(run.id)
      response.end('{}')
    })
  })
  await new Promise<void>((ready) => world.listen(0, '127.0.0.1', ready))
  const files = filesOf(`http://127.0.0.1:${(world.address() as AddressInfo).port}`)
  const project = writeProject(files)
  const at = { cwd: project.directory }
  const access = await deploy(project, 'acme.harbour')
  return {
    project,
    access,
    shipments,
    payments,
    serve: (failpoint) => serve(['--data', project.data], { ...at, ...(failpoint !== undefined && { failpoint }) }),
    serveHere: () => serveHere(['--data', project.data], at),
    async publishTighter() {
      for (const name of ['harbour.yaml', 'bundle.yaml', 'approve.yaml'])
        writeFileSync(
          join(project.directory, name),
          files[name]!.replace('version: 1.0.0', 'version: 1.1.0').replace(
            'approvals_required: 1',
            'approvals_required: 2',
          ),
        )
      await svcJson(['publish', '.', '--data', project.data], at)
    },
    async review() {
      const { items } = await svcJson<{ items: { userTaskId: string; tool: string; runId: string }[] }>(
        ['inbox', '--operator', '--data', project.data],
        at,
      )
      for (const { userTaskId, tool, runId } of items) {
        const happened =
          tool === 'acme.ship' ? shipments.some((each) => each.runId === runId) : payments.includes(runId)
        if (happened && tool === 'acme.ship') continue
        const answer = happened ? ['happened', '--text', '{}'] : ['retry']
        // `retry` is refused while bytes of the lost call may still arrive; the next round comes back.
        await svc(['answer', userTaskId, '--option', ...answer, '--data', project.data], at)
      }
    },
    async close() {
      world.closeAllConnections()
      await new Promise((closed) => world.close(closed))
      project.remove()
    },
  }
}

const meta = (name: string, labels = ''): string =>
  `metadata: { name: ${name}, namespace: acme, version: 1.0.0, labels: { ${labels} } }`

const filesOf = (url: string): Readonly<Record<string, string>> => ({
  'svc.config.yaml': `
workspace: harbour
tools:
  acme.*: { http: { url: '${url}' }, timeout: 10s }
`,
  'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: harbour, namespace: acme, version: 1.0.0 }
spec: { root: harbour.yaml }
`,
  'ship.yaml': `
apiVersion: svc/v1
kind: Tool
${meta('ship', 'svc/completion: external')}
spec: { description: Ships., side_effect_class: non_idempotent_write }
`,
  'pay.yaml': `
apiVersion: svc/v1
kind: Tool
${meta('pay')}
spec: { description: Pays., side_effect_class: irreversible_action }
`,
  'approve.yaml': `
apiVersion: svc/v1
kind: Policy
metadata: { name: approve, namespace: acme, version: 1.0.0 }
spec:
  scope: tool:acme.pay
  decision: { type: require_approval, approvals_required: 1 }
`,
  'harbour.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: harbour, namespace: acme, version: 1.0.0 }
spec:
  purpose: Delivers.
  instructions: { text: You deliver. }
  model: { provider: scripted, name: harbour, provider_options: { script: harbour.script.yaml } }
  tools:
    - ref: acme.ship@^1
    - { ref: acme.pay@^1, policies: [acme.approve] }
    - ref: svc.wait_event@^1
    - ref: svc.wait_until@^1
`,
  'harbour.script.yaml': `
- call: { tool: ship, arguments: {} }
- call: { tool: wait_event, arguments: { name: landed, schema: { type: object, properties: { at: { type: string } }, required: [at] } } }
- call: { tool: wait_until, arguments: { after: 200ms } }
- call: { tool: pay, arguments: {} }
- say: Shipped as \${results.ship.number}, landed at \${results.wait_event.data.at}.
`,
})
