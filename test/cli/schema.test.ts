import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, describe, expect, test } from 'vitest'
import { SUBJECTS } from '../../src/spec/event.ts'
import { whole } from '../documents/whole.ts'
import { svc, temporary } from './recording-io.ts'

const { path: home, remove } = temporary()
afterAll(remove)

interface Schema {
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, object>>
  readonly allOf?: readonly {
    readonly if: { readonly properties: { readonly kind: { readonly const: string } } }
    readonly then: { readonly properties: { readonly subject: { readonly enum: readonly string[] } } }
  }[]
}

const schemaOf = async (...kind: string[]): Promise<Schema> =>
  JSON.parse((await svc(['schema', ...kind], { cwd: home })).stdout) as Schema

const validator = (schema: Schema) => {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  addFormats.default(ajv)
  // Marks what svc adds to the format. Source: docs/design/http.md#ids-and-numbers
  ajv.addKeyword('x-svc-extension')
  return ajv.compile(schema)
}

const { stdout } = await svc(['schema'], { cwd: home })
const kinds = stdout.trimEnd().split('\n')

test('every kind that the manual names has a schema', () => {
  expect(kinds.slice(0, 9)).toEqual([
    'agent',
    'tool',
    'policy',
    'bundle',
    'config',
    'scenario',
    'policytest',
    'evalcase',
    'event',
  ])
  expect(kinds).toContain('output:lint')
  expect(kinds).toContain('output:policy eval')
})

test.each(kinds)('%s has a title and a description, and compiles', async (kind) => {
  const schema = await schemaOf(kind)
  expect([typeof schema.title, typeof schema.description]).toEqual(['string', 'string'])
  expect(validator(schema)).toBeTypeOf('function')
})

interface Part {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Part>>
  readonly items?: Part
  readonly additionalProperties?: Part | boolean
  readonly $defs?: Readonly<Record<string, Part>>
}

/** Every place of a schema at which an editor says something: keys, items of lists, names that authors choose, definitions. */
function parts(schema: Part, at = ''): [string, Part][] {
  const { items, additionalProperties: named } = schema
  const below: [string, Part][] = [
    ...Object.entries(schema.properties ?? {}).map(([key, each]): [string, Part] => [`${at}.${key}`, each]),
    ...(items === undefined ? [] : [[`${at}[]`, items] as [string, Part]]),
    ...(typeof named === 'object' ? [[`${at}.*`, named] as [string, Part]] : []),
    ...Object.entries(schema.$defs ?? {}).map(([key, each]): [string, Part] => [`#${key}`, each]),
  ]
  return [[at, schema], ...below.flatMap(([path, each]) => parts(each, path))]
}

test.each(kinds.slice(0, 8))(
  'all that may stand in %s is described, and each mapping of fields has a name',
  async (kind) => {
    const all = parts((await schemaOf(kind)) as Part)
    const isDescribed = ({ $ref, description }: Part): boolean => $ref !== undefined || (description ?? '') !== ''
    expect(all.filter(([, part]) => !isDescribed(part)).map(([path]) => path)).toEqual([])
    // Types that are made from the schemas of documents are named by the titles.
    const named = ['agent', 'tool', 'policy', 'bundle'].includes(kind) ? all : []
    const nameless = named.filter(([, { properties, title }]) => properties !== undefined && title === undefined)
    expect(nameless.map(([path]) => path)).toEqual([])
  },
)

test.each(kinds.slice(0, 7))('the examples and defaults in %s fit', async (kind) => {
  const schema = (await schemaOf(kind)) as Part
  for (const [path, part] of parts(schema) as [string, Part & { examples?: unknown[]; default?: unknown }][]) {
    const values = [...(part.examples ?? []), ...('default' in part ? [part.default] : [])]
    if (values.length === 0) continue
    const fits = new Ajv2020({ strict: false }).compile({ ...part, $defs: schema.$defs })
    expect([path, values.filter((value) => !fits(value))]).toEqual([path, []])
  }
})

test('the types name each part of the documents once', async () => {
  const { stdout: types } = await svc(['schema', '--types'], { cwd: home })
  const names = [...types.matchAll(/export (?:interface|type) (\w+)/g)].map(([, name]) => name!)
  expect(names.filter((name) => /\d$/.test(name))).toEqual([])
  expect(names).toEqual(expect.arrayContaining(['Agent', 'Model', 'AgentBinding', 'Tool', 'Policy', 'Document']))
})

test('the schema of events pairs each kind with its subjects', async () => {
  const { allOf = [] } = await schemaOf('event')
  const pairs = allOf.map((each) => [each.if.properties.kind.const, each.then.properties.subject.enum])
  expect(Object.fromEntries(pairs)).toEqual(SUBJECTS)
})

test('an unknown kind is reported with the nearest', async () => {
  expect(await svc(['schema', 'output:lnt'], { cwd: home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean output:lint?') as string,
  })
})

test('--vscode names a schema for each kind of file', async () => {
  const settings = JSON.parse((await svc(['schema', '--vscode'], { cwd: home })).stdout) as {
    'yaml.schemas': Record<string, string[]>
  }
  expect(Object.keys(settings['yaml.schemas'])).toEqual(
    ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest'].map(
      (kind) => `./.schemas/${kind}.schema.json`,
    ),
  )
})

describe('what a command answers has the shape that its schema says', () => {
  const cwd = join(home, 'claims')
  for (const [path, text] of Object.entries({ 'svc.config.yaml': 'workspace: claims\n', ...whole })) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }

  test.each<[string, string[]]>([
    ['lint', ['lint', '--strict']],
    ['fmt', ['fmt', '--check']],
    ['compile', ['compile']],
    ['explain', ['explain', 'tool/unresolved']],
    ['help', ['help']],
    ['version', ['version']],
    ['init', ['init', 'new', '-t', 'blank']],
    ['bundle tree', ['bundle', 'tree']],
  ])('%s', async (command, argv) => {
    const { stdout: answer } = await svc([...argv, '--json'], { cwd })
    const validate = validator(await schemaOf(`output:${command}`))
    validate(JSON.parse(answer))
    expect(validate.errors ?? []).toEqual([])
  })
})
