/**
 * Clients that generators of others write from the OpenAPI document call a real server: they start a run, wait for it, approve
 * what it asks, read its timeline by types, and meet an error. See tools/installed.ts for what they need.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf } from '../../scripts/tool.js'
import { running } from '../server/running.ts'
import { openApi } from './document.ts'
import { execute, hasGo, hasJava, hasTools, MODULES, python, toolPath } from './tools/installed.ts'
import { removeDirectory } from '../remove-directory.ts'

const PROGRAMS = join(import.meta.dirname, 'tools')
const home = mkdtempSync(join(tmpdir(), 'svc-generated-'))
afterAll(() => removeDirectory(home))

/** What each of them prints. */
const SEEN = `File of more bytes than announced: 400, 409
File of 1 TiB: 413: file_too_large
File: 12 bytes
WaitingForHITL: approval of refunds for 180
Completed: 180 refunded
UserMessage: 1 file
Reasoning: A refund is due.
UserTaskReq: acme.refund-desk wants to call refunds
Reasoning: {"refunded":180}
Output: 180
404: not_found
`

/** What a program needs to call a server of its own. */
async function serve(): Promise<NodeJS.ProcessEnv> {
  const { server, secret, agentId } = await running({ key: { allowUploads: true } })
  return { SVC_URL: server.url, SVC_API_KEY: secret, SVC_AGENT: agentId }
}

async function generate(version: 4 | 5, language: string): Promise<string> {
  const jar = join(MODULES, `openapi-generator-${version}/bin/openapi-generator.jar`)
  const out = join(home, language)
  const args = ['-jar', jar, 'generate', '-i', 'openapi30.json', '-g', language, '-o', out, '--package-name', 'svcapi']
  expect(await execute('java', args, { cwd: home })).toMatchObject({ status: 0 })
  return out
}

describe.skipIf(!hasTools)('with npm install --prefix test/api/tools --ignore-scripts --no-package-lock', () => {
  beforeAll(async () => {
    writeFileSync(join(home, 'openapi.json'), JSON.stringify(openApi))
    const args = ['-i', 'openapi.json', '-o', 'openapi30.json']
    expect(await execute(toolPath('openapi-down-convert'), args, { cwd: home })).toMatchObject({ status: 0 })
  })

  test('TypeScript: types of openapi-typescript, with openapi-fetch', async () => {
    const args = ['openapi.json', '-o', 'api.d.ts']
    expect(await execute(toolPath('openapi-typescript'), args, { cwd: home })).toMatchObject({ status: 0 })
    writeFileSync(join(home, 'package.json'), '{"type":"module"}')
    symlinkSync(MODULES, join(home, 'node_modules'))
    copyFileSync(join(PROGRAMS, 'live.ts.txt'), join(home, 'live.ts'))
    const [node, tsc] = commandOf('tsc')
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--ignoreConfig', '--types', '']
    expect(await execute(node, [tsc, ...options, 'live.ts'], { cwd: home })).toEqual({
      status: 0,
      output: '',
    })
    expect(await execute(process.execPath, ['live.js'], { cwd: home, env: await serve() })).toEqual({
      status: 0,
      output: SEEN,
    })
  })

  test.skipIf(!hasJava || python === undefined)(
    'Python: openapi-generator (needs java, and python3 with urllib3, dateutil, six and certifi)',
    async () => {
      const out = await generate(5, 'python-experimental')
      // The generated code takes its mark of an absent value from a package of this name.
      writeFileSync(join(out, 'nulltype.py'), 'class Null:\n    pass\n')
      const env = { ...(await serve()), PYTHONPATH: out }
      expect(await execute(python!, [join(PROGRAMS, 'live.py')], { cwd: home, env })).toEqual({
        status: 0,
        output: SEEN,
      })
    },
    180_000,
  )

  test.skipIf(!hasJava || !hasGo)(
    'Go: openapi-generator (needs java and go)',
    async () => {
      const out = await generate(4, 'go-experimental')
      withoutUnusedImports(out)
      // The one module that the generated code imports, for another kind of authentication.
      const stub = join(out, 'stub')
      mkdirSync(stub)
      writeFileSync(join(stub, 'go.mod'), 'module golang.org/x/oauth2\n')
      writeFileSync(join(stub, 'oauth2.go'), OAUTH2)
      const required = 'require golang.org/x/oauth2 v0.0.0\nreplace golang.org/x/oauth2 => ./stub\n'
      writeFileSync(join(out, 'go.mod'), `module svcapi\ngo 1.19\n${required}`)
      rmSync(join(out, 'go.sum'), { force: true })
      copyFileSync(join(PROGRAMS, 'live_test.go'), join(out, 'live_test.go'))
      const env = { ...(await serve()), GOFLAGS: '-mod=mod', GOPROXY: 'off' }
      const { status, output } = await execute('go', ['test', '-count=1', '-vet=off', '-v', '.'], { cwd: out, env })
      expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`\n${SEEN}--- PASS`) as unknown })
    },
    180_000,
  )
})

/** The generator imports `time` where no field of a union is one; a compiler of Go takes that for an error. */
function withoutUnusedImports(directory: string): void {
  for (const name of readdirSync(directory).filter((each) => each.startsWith('model_'))) {
    const path = join(directory, name)
    const text = readFileSync(path, 'utf8')
    if (!text.includes('time.')) writeFileSync(path, text.replace('\t"time"\n', ''))
  }
}

const OAUTH2 = `package oauth2

import "net/http"

type Token struct{}

func (t *Token) SetAuthHeader(r *http.Request) {}

type TokenSource interface{ Token() (*Token, error) }
`
