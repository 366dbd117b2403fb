/**
 * The project `branch-office`: two agents that are asked for the same order. One pays itself, the other lets the first do it as its
 * sub-agent; and the bank, which keeps the only book of what was paid.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/** A call as it arrived at the bank. */
export interface Payment {
  readonly tool: string
  readonly order: string
  /** Idempotency key. */
  readonly key: string
  readonly runId: string
}

export interface BranchOffice {
  readonly project: Project
  /** `acme.clerk`, which pays itself, and `acme.phone`, which delegates to it. */
  readonly agents: readonly Access[]
  readonly payments: readonly Payment[]
  serve(): Promise<ServerProcess>
  /** A server that nobody kills. */
  serveHere(): Promise<RunningServer>
  /** Every operator's task that waits, decided by the book of the bank. */
  review: () => Promise<void>
  close(): Promise<void>
}

/**
 * @param callMs milliseconds that a payment takes
 * @param hasKeys false leaves the effect keys out of the Tool documents
 */
export async function openBranchOffice(callMs: () => number, hasKeys = true): Promise<BranchOffice> {
  const payments: Payment[] = []
  const bank = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { tool, idempotency_key, arguments: given, run } = JSON.parse(text)
      payments.push({ tool, order: given.order, key: idempotency_key, runId: run.id })
      setTimeout(() => response.end(JSON.stringify({ paid: given.order })), callMs())
    })
  })
  await new Promise<void>((ready) => bank.listen(0, '127.0.0.1', ready))
  const project = writeProject(filesOf(`http://127.0.0.1:${(bank.address() as AddressInfo).port}`, hasKeys))
  const at = { cwd: project.directory }
  const data = ['--data', project.data]
  const phone = await deploy(project, 'acme.phone')
  const { agentId } = await svcJson<{ agentId: string }>(['deploy', 'acme.clerk@1.0.0', ...data], at)
  const given = ['--agent', 'acme.clerk', '--trigger']
  const trigger = [
    'triggers',
    'create',
    'acme.clerk',
    '--type',
    'api',
    '--name',
    'counter',
    '--allow-approvals',
    ...data,
  ]
  const { triggerId } = await svcJson<{ triggerId: string }>(trigger, at)
  const { secret } = await svcJson<{ secret: string }>(['keys', 'create', ...given, triggerId, ...data], at)
  return {
    project,
    agents: [{ agentId, triggerId, secret }, phone],
    payments,
    serve: () => serve(data, at),
    serveHere: () => serveHere(data, at),
    async review() {
      const inbox = await svcJson<{ items: { userTaskId: string; tool: string; runId: string }[] }>(
        ['inbox', '--operator', ...data],
        at,
      )
      for (const { userTaskId, ...task } of inbox.items) {
        // No run calls the same tool twice.
        const happened = payments.find((each) => each.runId === task.runId && each.tool === task.tool)
        const answer = happened ? ['happened', '--text', JSON.stringify({ paid: happened.order })] : ['retry']
        const ran = await svc(['answer', userTaskId, '--option', ...answer, ...data], at)
        // `retry` is refused while bytes of the lost call may still arrive; the next round comes back.
        if (ran.code !== 0 && happened) throw new Error(ran.stderr)
      }
    },
    async close() {
      bank.closeAllConnections()
      await new Promise((closed) => bank.close(closed))
      project.remove()
    },
  }
}

const ORDER = '{ type: object, required: [order], properties: { order: { type: string } } }'

const toolOf =
  (hasKeys: boolean) =>
  (name: string, sideEffectClass: string, repeat = ''): string =>
    `
apiVersion: svc/v1
kind: Tool
metadata:
  name: ${name}
  namespace: acme
  version: 1.0.0
  labels: { ${hasKeys ? `svc/effect-key: "${name}:{args.order}"${repeat}` : ''} }
spec:
  description: Does ${name}.
  side_effect_class: ${sideEffectClass}
  input_schema: { inline: ${ORDER} }
`

const agent = (name: string, rest: string): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0, annotations: { svc/input-schema: order.json } }
spec:
  purpose: Pays.
  instructions: { text: You pay. }
  model: { provider: scripted, name: ${name}, provider_options: { script: ${name}.script.yaml } }
${rest}`

function filesOf(url: string, hasKeys: boolean): Readonly<Record<string, string>> {
  const tool = toolOf(hasKeys)
  return {
    'svc.config.yaml': `
workspace: branch
tools:
  acme.*: { http: { url: '${url}' }, timeout: 10s }
`,
    'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: branch, namespace: acme, version: 1.0.0 }
spec: { root: phone.yaml }
`,
    'order.json': '{ "type": "object", "required": ["order"], "properties": { "order": { "type": "string" } } }',
    // A person is asked about each refund, and about a second one in any case.
    'refund.yaml': tool('refund', 'irreversible_action'),
    'charge.yaml': tool('charge', 'non_idempotent_write', ', svc/effect-repeat: refuse'),
    'voucher.yaml': tool('voucher', 'idempotent_write'),
    'phone.yaml': agent('phone', '  agents: [{ ref: clerk.yaml }]\n'),
    'clerk.yaml': agent(
      'clerk',
      `  tools:
    - ref: acme.refund@^1
    - ref: acme.charge@^1
    - ref: acme.voucher@^1
`,
    ),
    'clerk.script.yaml': `
- call:
    - { tool: refund, arguments: { order: '\${input.order}' } }
    - { tool: charge, arguments: { order: '\${input.order}' } }
    - { tool: voucher, arguments: { order: '\${input.order}' } }
- say: Paid.
`,
    'phone.script.yaml': `
- call: { tool: clerk, arguments: { order: '\${input.order}' } }
- say: Paid.
`,
  }
}
