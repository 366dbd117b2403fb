/** Servers for the tests of the Python client: one for each agent that they talk to, and one that starts again when it is told to. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServer, type RunningServer } from '../../src/server/open.ts'
import type { ScriptTurn } from '../../src/spec/snapshot.ts'
import { findFreePort } from '../free-port.ts'
import { closing, directory, options, publishDesk, running, scripted, tool } from '../server/running.ts'

interface Place {
  readonly url: string
  readonly key: string
  readonly agent: string
}

const ask = (message: string): ScriptTurn => ({ call: { tool: 'ask_user', arguments: { message } } })
const request = (given: object): ScriptTurn => ({ call: { tool: 'request_input', arguments: { ...given } } })
const INPUT = tool('svc.request_input', { builtin: true })

const AGENTS = {
  /** Looks an order up, asks for approval, refunds. */
  desk: { key: { allowUploads: true }, trigger: { allowDelete: true } },
  /** Its key starts runs, and answers no approval. */
  starter: { trigger: { allowApprovals: false } },
  chat: { snapshot: scripted([{ say: 'You said ${input.message}.' }]), trigger: { allowDelete: true } },
  asking: {
    snapshot: scripted(
      [
        ask('Which order?'),
        request({ kind: 'text', prompt: 'Why?' }),
        request({ kind: 'number', prompt: 'How many?', min: 1, max: 3 }),
        request({
          kind: 'multi_option',
          prompt: 'Which?',
          options: [
            { id: 'red', label: 'Red' },
            { id: 'blue', label: 'Blue' },
          ],
        }),
        { say: 'Thank you.' },
      ],
      [tool('svc.ask_user', { builtin: true }), INPUT],
    ),
  },
  waiting: {
    snapshot: scripted(
      [{ call: { tool: 'wait_event', arguments: { name: 'paid' } } }, { say: 'Paid.' }],
      [tool('svc.wait_event', { builtin: true })],
    ),
  },
  /** Its script has no turn, so every run of it fails. */
  broken: { snapshot: scripted([]) },
}

/** @returns what the tests read of their environment */
export async function servePython(): Promise<Readonly<Record<string, Place>>> {
  const places: Record<string, Place> = { mortal: await serveMortal() }
  for (const [name, given] of Object.entries(AGENTS)) {
    const { server, secret, agentId } = await running(given)
    places[name] = { url: server.url, key: secret, agent: agentId }
  }
  return places
}

/** A server on disk. `POST /restart` of another address closes it, and opens it again where it was. */
async function serveMortal(): Promise<Place & { readonly restart: string }> {
  const data = directory()
  const port = await findFreePort()
  const open = (): Promise<RunningServer> => openServer({ ...options(data), port })
  let server = await open()
  closing(() => server.close(0))
  const { secret, agentId } = await publishDesk(server.operator)
  const control = createServer((_, response) => {
    void (async () => {
      await server.close(0)
      server = await open()
      response.end('open')
    })()
  })
  await new Promise<void>((listening) => void control.listen(0, '127.0.0.1', listening))
  closing(() => void control.close())
  const restart = `http://127.0.0.1:${(control.address() as AddressInfo).port}/restart`
  return { url: server.url, key: secret, agent: agentId, restart }
}
