/** Text of a model that one server asks, for readers at another one. */
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listen, stop } from '../fakes/model-server.ts'
import { startPostgres } from '../store/postgres-server.ts'
import {
  deploy,
  serve,
  serveHere,
  svcJson,
  writeProject,
  type Access,
  type Project,
  type RunningServer,
  type ServerProcess,
} from './binary.ts'
import { customer } from './customer.ts'
import { bucketUrl } from '../bucket.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

const WORDS = Array.from({ length: 40 }, (_, at) => `word${at} `)
const EVERY_MS = 60
const SECRET = 'a-secret-that-servers-share'

/** A frame as it arrived; `seq` is null for text that is not stored. */
interface SeenFrame {
  readonly seq: number | null
  readonly at: number
  readonly subject: string
  readonly text: string
}

describe.skipIf(!postgres)('model text', () => {
  let model: Server
  /** When each word left the model. */
  let spokenAt: number[]
  let project: Project
  let access: Access
  let env: Record<string, string>
  const closers: (() => Promise<unknown>)[] = []
  beforeEach(() => void (spokenAt = []))

  beforeAll(async () => {
    model = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (choice: object) =>
        response.write(
          `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`,
        )
      let at = 0
      const timer = setInterval(() => {
        if (at === WORDS.length) {
          clearInterval(timer)
          send({ delta: {}, finish_reason: 'stop' })
          response.end('data: [DONE]\n\n')
          return
        }
        spokenAt.push(performance.now())
        send({ delta: { content: WORDS[at++] } })
      }, EVERY_MS)
      response.on('close', () => clearInterval(timer))
    })
    const url = await listen(model)
    project = writeProject(files(url))
    env = {
      SVC_STORE: postgres!.url('text'),
      SVC_CLUSTER_SECRET: SECRET,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      THE_MODEL_KEY: 'a-key-of-the-model',
    }
    await svcJson(['store', 'migrate'], { cwd: project.directory, env })
    access = await deploy(project, 'acme.teller', { env })
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })
  afterAll(async () => {
    await stop(model)
    project.remove()
  })

  const optionsOf = async (name: string, more: Record<string, string>) => {
    const own = ['--data', join(project.directory, name), '--internal', '127.0.0.1:0', '--storage', await bucketUrl()]
    return [own, { cwd: project.directory, env: { ...env, ...more } }] as const
  }
  const open = async (name: string, more: Record<string, string> = {}): Promise<RunningServer> => {
    const server = await serveHere(...(await optionsOf(name, more)))
    closers.push(() => server.stop())
    return server
  }
  const openMortal = async (name: string, more: Record<string, string>): Promise<ServerProcess> => {
    const server = await serve(...(await optionsOf(name, more)))
    closers.push(() => server.stop('SIGKILL'))
    return server
  }

  async function read({ url }: RunningServer, runId: string, after = 0): Promise<SeenFrame[]> {
    const response = await fetch(`${url}/v1/runs/${runId}/stream?after=${after}`, {
      headers: { 'X-API-Key': access.secret },
    })
    const seen: SeenFrame[] = []
    let rest = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split('\n\n')
      rest = frames.pop()!
      for (const frame of frames) {
        const line = /^data: (.*)$/m.exec(frame)?.[1]
        if (line === undefined) continue
        const { subject, data } = JSON.parse(line) as { subject: string; data: { text?: string } }
        const seq = /^id: (\d+)$/m.exec(frame)?.[1]
        seen.push({
          seq: seq === undefined ? null : Number(seq),
          at: performance.now(),
          subject,
          text: data.text ?? '',
        })
      }
    }
    return seen
  }
  const textOf = (frames: readonly SeenFrame[]): string =>
    frames.flatMap(({ subject, text }) => (subject === 'engine.step.delta' ? [text] : [])).join('')

  test(
    'arrives at a reader of another server as it is spoken, in place, and once',
    { timeout: 120_000, retry: 2 },
    async () => {
      const [a, b] = [await open('a'), await open('b')]
      const runId = await customer(b, access).start()
      const [atA, atB] = await Promise.all([read(a, runId), read(b, runId)])
      const whole = WORDS.join('')
      expect(textOf(atB)).toBe(whole)
      // What was spoken before the other server knew of the reader is in the step.
      const heard = textOf(atA)
      expect(whole.endsWith(heard)).toBe(true)
      expect(heard.length).toBeGreaterThan(whole.length / 2)
      const stored = (frames: readonly SeenFrame[]) => frames.flatMap(({ seq }) => (seq === null ? [] : [seq]))
      expect(stored(atA)).toEqual(stored(atB))
      // All of it stands before the same event: the step that has it whole.
      const afterText = (frames: readonly SeenFrame[]) =>
        frames.slice(frames.findLastIndex(({ seq }) => seq === null) + 1).map(({ seq }) => seq)
      expect(afterText(atA)).toEqual(afterText(atB))
      // A word is read as soon as it is spoken; the text of a moment may come together.
      const delays = atA.flatMap(({ subject, text, at }) => {
        const word = /word(\d+) $/.exec(text)?.[1]
        return subject === 'engine.step.delta' && word !== undefined ? [at - spokenAt[Number(word)]!] : []
      })
      expect(median(delays)).toBeLessThan(50)
    },
  )

  test('shows at another server only with its step where no secret is shared', async () => {
    const [a, b] = [await open('a', { SVC_CLUSTER_SECRET: '' }), await open('b')]
    const runId = await customer(b, access).start()
    const [atA, atB] = await Promise.all([read(a, runId), read(b, runId)])
    expect(textOf(atA)).toBe('')
    expect(textOf(atB)).toBe(WORDS.join(''))
    expect(atA.filter(({ seq }) => seq !== null).map(({ seq }) => seq)).toEqual(
      atB.filter(({ seq }) => seq !== null).map(({ seq }) => seq),
    )
  })

  test('is given to nobody without the secret of the cluster', async () => {
    const server = await open('a')
    const internalUrl = /internalUrl="([^"]+)"/.exec(server.stderr())![1]!
    const ask = (headers: Record<string, string>) => fetch(`${internalUrl}/peer/deltas`, { headers })
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: `Bearer ${SECRET}x` }])
      expect((await ask(headers as Record<string, string>)).status).toBe(401)
    const response = await ask({ authorization: `Bearer ${SECRET}` })
    expect(response.status).toBe(200)
    await response.body!.cancel()
    // The address for clients has no such route.
    expect((await fetch(`${server.url}/peer/deltas`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(
      404,
    )
  })

  test('goes on at a reader whose run another server takes over', async () => {
    const short = { SVC_LEASE_TTL: '5s' }
    const [a, b] = [await open('a', short), await openMortal('b', short)]
    await open('c', short)
    const runId = await customer(b, access).start()
    const reading = read(a, runId)
    while (spokenAt.length < 10) await new Promise((resolve) => setTimeout(resolve, 20))
    await b.stop('SIGKILL')
    const seen = await reading
    const numbers = seen.flatMap(({ seq }) => (seq === null ? [] : [seq]))
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    expect(seen.at(-1)!.subject).toBe('engine.session.completed')
    // A reader that was away gets what it missed at any server.
    const later = await read(a, runId, numbers[2])
    expect(later.map(({ seq }) => seq)).toEqual(numbers.slice(3))
    expect(await customer(a, access).run(runId)).toMatchObject({ output: WORDS.join('') })
    expect(textOf(seen).length).toBeGreaterThan(WORDS.join('').length / 2)
  })
})

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!

const files = (url: string): Readonly<Record<string, string>> => ({
  'svc.config.yaml': 'workspace: teller\n',
  'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: teller, namespace: acme, version: 1.0.0 }
spec: { root: teller.yaml }
`,
  'teller.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: teller, namespace: acme, version: 1.0.0 }
secrets: { model-key: { fromEnv: THE_MODEL_KEY } }
spec:
  purpose: Tells.
  instructions: { text: You tell. }
  model:
    provider: openai-compatible
    name: m
    secret: model-key
    base_url: ${url}/v1
    parameters: { max_output_tokens: 1000 }
`,
})
