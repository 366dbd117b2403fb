/** The parts of a bundle, read with the schema of CycloneDX. Source: docs/design/bundles-and-authority.md#parts */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BundleParts } from '../../src/compile/bundle-parts.ts'
import { bundledParts } from '../../scripts/sbom.js'
import { svc as run, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

const cwd = join(parent, 'desk')
const svc = (...argv: string[]) => run(argv, { cwd })

beforeAll(async () => {
  await run(['init', 'desk', '--full'], { cwd: parent })
})

const schemas = createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')
function problemsOf(document: object): unknown {
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  // Kinds of addresses that ajv-formats does not know; none of a bundle needs them.
  for (const name of ['iri-reference', 'idn-email']) ajv.addFormat(name, true)
  const read = (name: string): object =>
    JSON.parse(readFileSync(join(schemas, `../res/schema/${name}.SNAPSHOT.schema.json`), 'utf8')) as object
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  ajv.validate(read(`bom-${(document as { specVersion: string }).specVersion}`), document)
  return ajv.errors ?? []
}

async function partsOf(...argv: string[]): Promise<BundleParts> {
  const { code, stdout, stderr } = await svc('bundle', 'sbom', ...argv)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as BundleParts
}

test('lists agents, tools, policies, files and models with what they need, as CycloneDX reads it', async () => {
  const parts = await partsOf()
  expect(problemsOf(parts)).toEqual([])
  const { members } = JSON.parse((await svc('bundle', 'tree', '--json')).stdout.replace('"nodes"', '"members"')) as {
    members: { kind: string; id: string; version: string | null; digest: string }[]
  }
  expect(
    parts.components
      .filter(({ type }) => type !== 'machine-learning-model')
      .map((each) => [each['bom-ref'], each.hashes]),
  ).toEqual(
    members.map(({ kind, id, version, digest }) => [
      `${kind}:${id}${version === null ? '' : `@${version}`}`,
      [{ alg: 'SHA-256', content: digest.slice('sha256:'.length) }],
    ]),
  )
  expect(parts.components.find(({ name }) => name === 'acme.refunds')).toMatchObject({
    type: 'library',
    version: '1.0.0',
    properties: expect.arrayContaining([{ name: 'svc:side-effect-class', value: 'non_idempotent_write' }]) as unknown,
  })
  expect(parts.dependencies.find(({ ref }) => ref === 'agent:acme.refund-desk@1.0.0')?.dependsOn).toEqual([
    'agent:acme.fraud-check@1.0.0',
    'model:scripted/refund-desk',
    'policy:acme.large-refunds@1.0.0',
    'policy:acme.refund-limit@1.0.0',
    'tool:acme.orders.lookup@1.0.0',
    'tool:acme.refunds@1.0.0',
  ])
})

test('each reference names a part or a service of the document', async () => {
  const { metadata, components, services, dependencies } = await partsOf()
  const known = [metadata.component, ...components, ...services].map((each) => each['bom-ref'])
  expect(new Set(known).size).toBe(known.length)
  expect(
    dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !known.includes(ref)),
  ).toEqual([])
})

test('an archive and the directory that it was packed from have the same bytes', async () => {
  await svc('bundle', 'pack', '-o', 'desk.tgz')
  const { stdout } = await svc('bundle', 'sbom', 'desk.tgz')
  const { stdout: ofDirectory } = await svc('bundle', 'sbom')
  // Where a document came from differs: a file of the archive has the same path.
  expect(stdout).toBe(ofDirectory)
  await svc('bundle', 'sbom', '-o', 'desk.cdx.json')
  expect(JSON.parse(readFileSync(join(cwd, 'desk.cdx.json'), 'utf8'))).toEqual(JSON.parse(stdout))
})

test('an MCP server is a service, and each tool that an agent calls there has its pin, or lacks one', async () => {
  const directory = join(parent, 'crm')
  cpSync(
    join(import.meta.dirname, '../documents/rules/mcp/description-changed/good/agent.yaml'),
    join(directory, 'agent.yaml'),
  )
  const agent = readFileSync(join(directory, 'agent.yaml'), 'utf8')
  const [search] = /    - ref: web\.search[^]*?(?=\n  mcp_servers)/.exec(agent) ?? ['']
  const other = search.replace('web.search', 'web.news').replace(/tool: search/, 'tool: news')
  writeFileSync(join(directory, 'agent.yaml'), agent.replace(search, `${search}\n${other}`))
  const compiled = await run(['compile'], { cwd: directory })
  expect(compiled.code).toBe(0)
  const lock = JSON.parse(readFileSync(join(directory, 'svc.lock'), 'utf8')) as object
  const pin = { agent: 'acme.desk', server: 'web', tool: 'search', integrity: `sha256:${'1'.repeat(64)}` }
  writeFileSync(join(directory, 'svc.lock'), JSON.stringify({ ...lock, mcp: [pin] }))
  const { code, stdout } = await run(['bundle', 'sbom'], { cwd: directory })
  expect(code).toBe(0)
  const parts = JSON.parse(stdout) as BundleParts
  expect(problemsOf(parts)).toEqual([])
  expect(parts.services).toEqual([
    {
      'bom-ref': 'mcp:web@https://mcp.example/',
      name: 'web',
      endpoints: ['https://mcp.example/'],
      authenticated: true,
      properties: [
        { name: 'svc:mcp-tool', value: 'news not pinned' },
        { name: 'svc:mcp-tool', value: `search ${pin.integrity}` },
      ],
    },
  ])
})

test('the list of the program is CycloneDX as well, and a list with an unknown part is none', () => {
  const list = bundledParts({ name: 'svc', version: '1.0.0' }, [
    { name: 'yaml', version: '2.0.0', license: 'ISC', text: '' },
  ])
  expect(problemsOf(list)).toEqual([])
  expect(problemsOf({ ...list, components: [{ type: 'agent', name: 'desk' }] })).not.toEqual([])
})
