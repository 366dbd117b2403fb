import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { compileClosure } from '../../src/compile/compile.ts'
import { digestOfSnapshot } from '../../src/spec/snapshot.ts'
import { nothingPublished } from '../../src/compile/state/published.ts'
import { loadWorkspace } from '../../src/documents/workspace/load.ts'
import { digestOfSet } from '../../src/policy/policy-set.ts'
import { agentOf, bundleOf, changed, compileFiles, DESK, lockedBy, registryOf, type Files } from './make.ts'
import { removeDirectory } from '../remove-directory.ts'

describe('a bundle', () => {
  test('becomes one snapshot per agent, children first, everything by value', async () => {
    const bundle = await bundleOf(DESK)
    expect([bundle.root, bundle.bundle]).toEqual(['acme.desk', { id: 'acme.refund', version: '1.0.0' }])
    expect(bundle.agents.map(({ id }) => id)).toEqual(['acme.clerk', 'acme.desk'])
    expect(bundle.documents.map(({ kind, id, version }) => `${kind} ${id}@${version}`)).toEqual([
      'Policy acme.ceiling@1.0.0',
      'Policy acme.limit@2.0.0',
      'Policy acme.small@1.0.0',
      'Tool acme.orders.lookup@1.0.3',
      'Tool acme.refunds@1.0.0',
    ])
    const refunds = { type: 'object', properties: { amount: { type: 'number' }, currency: { enum: ['EUR', 'USD'] } } }
    const order = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
    const { policies, digest, ...desk } = agentOf(bundle, 'acme.desk')
    expect(desk).toEqual({
      v: 1,
      id: 'acme.desk',
      namespace: 'acme',
      name: 'desk',
      version: '1.2.0',
      labels: {},
      classifications: [],
      boundaries: ['refund-limit'],
      purpose: 'Decide on refunds.',
      instructions: { text: 'You decide on refunds.\n', digest: digestOf('You decide on refunds.\n') },
      model: { provider: 'anthropic', name: 'big', secret: 'vendor_a' },
      secrets: { vendor_a: { fromEnv: 'VENDOR_A_KEY' } },
      mcpServers: [],
      tools: [
        {
          wire: 'lookup',
          id: 'acme.orders.lookup',
          version: '1.0.3',
          description: 'Reads an order.',
          inputSchema: order,
          inputSchemas: [order],
          sideEffectClass: 'read_only',
          labels: {},
        },
        {
          wire: 'refunds',
          id: 'acme.refunds',
          version: '1.0.0',
          description: 'Pays money back.',
          inputSchema: refunds,
          inputSchemas: [refunds],
          sideEffectClass: 'irreversible_action',
          labels: { 'svc/egress': 'external' },
        },
      ],
      agents: [
        {
          wire: 'ask_clerk',
          id: 'acme.clerk',
          version: '1.0.0',
          digest: agentOf(bundle, 'acme.clerk').digest,
          lateBound: false,
          description: 'Know the rules.',
          result: 'summary',
        },
      ],
      limits: {},
      output: { format: 'text', strict: false, on_invalid: 'retry' },
      inputContract: {
        type: 'object',
        properties: { order: { $ref: '#/$defs/file1/properties/order' } },
        $defs: { file1: order },
      },
    })
    expect(digest).toBe(digestOfSnapshot({ ...desk, policies } as Parameters<typeof digestOfSnapshot>[0]))
    expect(policies.digest).toBe(digestOfSet(policies))
    expect(agentOf(bundle, 'acme.clerk').model).toEqual({
      provider: 'scripted',
      name: 'clerk',
      provider_options: { seed: 7 },
      script: [{ say: 'Yes.' }],
    })
  })

  test('its policies name the calls they apply to, and their origin', async () => {
    const { policies } = agentOf(await bundleOf(DESK), 'acme.desk')
    const nameOf = (id: string) => policies.entries.find((entry) => entry.id === id)?.policy
    expect(
      Object.fromEntries(
        Object.entries(policies.index).map(([wire, ids]) => [wire, ids.map((id) => nameOf(id) ?? '').sort()]),
      ),
    ).toEqual({
      ask_clerk: [],
      lookup: ['acme.ceiling'],
      refunds: ['acme.ceiling', 'acme.limit', 'acme.small'],
    })
    expect(policies.inherited.map(nameOf)).toEqual(['acme.limit'])
    expect(policies.entries.find(({ policy }) => policy === 'acme.limit')).toMatchObject({
      version: '2.0.0',
      effect: 'require_approval',
      when: { field: 'args.amount', op: 'gt', value: 100 },
      obligations: {
        timeout: { after_minutes: 30, default: 'deny' },
        approver_role: 'finance',
        separation_of_duties: true,
        approval_proof: 'passkey',
      },
      reason: 'Above 100',
      authority_ref: 'refund-limit',
      scope: 'acme.refunds',
      origin: [
        {
          kind: 'boundary',
          boundary: 'refund-limit',
          doc: 'acme.limit@2.0.0',
          path: 'policies/limit.yaml',
          line: 7,
          pointer: '/spec/decision',
        },
      ],
    })
    expect(policies.entries.find(({ policy }) => policy === 'acme.ceiling')).toMatchObject({
      effect: 'deny',
      message: 'Ask for less.',
      origin: [{ kind: 'default' }],
    })
  })

  test.each([
    ['allow', { standing: 'small refunds' }],
    ['block', {}],
  ])('a policy of type %s keeps what an operator can end it by only where it grants', async (type, obligations) => {
    const decision = `decision: { type: ${type}, runtime: { svc/standing: small refunds } }`
    const files = changed(DESK, 'policies/small.yaml', 'decision: { type: allow }', decision)
    const { policies } = agentOf(await bundleOf(files), 'acme.desk')
    expect(policies.entries.find(({ policy }) => policy === 'acme.small')!.obligations).toEqual(obligations)
  })

  test('is read from a directory too', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-compile-'))
    onTestFinished(() => removeDirectory(directory))
    for (const [path, text] of Object.entries(DESK)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    const { bundle } = await compileClosure({
      workspace: await loadWorkspace(directory),
      root: 'bundle.yaml',
      published: nothingPublished,
    })
    expect(bundle).toEqual(await bundleOf(DESK))
  })

  test('is found by its root agent as well', async () => {
    expect(await bundleOf(DESK, { root: 'agents/desk.yaml' })).toEqual(await bundleOf(DESK))
  })

  test('an agent without sub-agents compiles alone', async () => {
    const { 'bundle.yaml': _, ...alone } = DESK
    const bundle = await bundleOf(
      { ...alone, 'agents/models/clerk.yaml': DESK['models/clerk.yaml']! },
      { root: 'agents/clerk.yaml' },
    )
    expect([bundle.root, bundle.bundle, bundle.agents.length]).toEqual(['acme.clerk', undefined, 1])
  })

  test('a Tool document compiles alone', async () => {
    const { root, agents, documents } = await bundleOf(DESK, { root: 'tools/lookup.yaml' })
    expect([root, agents]).toEqual([undefined, []])
    expect(documents.map(({ document }) => document['spec'])).toEqual([
      {
        description: 'Reads an order.',
        side_effect_class: 'read_only',
        input_schema: { inline: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } },
      },
    ])
  })

  test('a prerelease is added to the versions of its own documents', async () => {
    const bundle = await bundleOf(DESK, { prerelease: 'dev.3' })
    expect([...bundle.agents, ...bundle.documents].map(({ id, version }) => `${id}@${version}`)).toEqual([
      'acme.clerk@1.0.0-dev.3',
      'acme.desk@1.2.0-dev.3',
      'acme.ceiling@1.0.0-dev.3',
      'acme.limit@2.0.0-dev.3',
      'acme.small@1.0.0-dev.3',
      'acme.orders.lookup@1.0.3-dev.3',
      'acme.refunds@1.0.0-dev.3',
    ])
  })
})

describe('digests', () => {
  const digests = async (files: Files) => {
    const bundle = await bundleOf(files)
    return {
      agents: bundle.agents.map(({ digest }) => digest),
      documents: bundle.documents.map(({ digest }) => digest),
      closure: bundle.closureDigest,
    }
  }
  const rename = (files: Files, from: string, to: string): Files =>
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path === from ? to : path,
        text.replaceAll(from, to).replaceAll(from.replace('schemas/', ''), to.replace('schemas/', '')),
      ]),
    )

  test.each([
    ['policies/limit.yaml', 'rules/a/above.yaml'],
    ['tools/refunds.yaml', 'z.yml'],
    ['agents/clerk.yaml', 'clerk/agent.yaml'],
    ['prompts/desk.md', 'prompts/other.md'],
    ['models/clerk.yaml', 'models/script.yaml'],
    ['schemas/order.json', 'schemas/zzz.json'],
  ])('stay when %s is renamed', async (from, to) => {
    expect(await digests(rename(DESK, from, to))).toEqual(await digests(DESK))
  })

  test('do not depend on added lines or the order of keys', async () => {
    const moved = changed(
      changed(
        DESK,
        'policies/limit.yaml',
        'conditions: { field: args.amount, op: gt, value: 100 }',
        '\n\n  conditions: { value: 100, op: ">", field: amount }',
      ),
      'agents/desk.yaml',
      'model: { provider: vendor_a, name: big }',
      'model: { name: big, provider: anthropic }',
    )
    const [before, after] = [await bundleOf(DESK), await bundleOf(moved)]
    expect(after.agents.map(({ policies }) => policies.entries.map(({ id }) => id))).toEqual(
      before.agents.map(({ policies }) => policies.entries.map(({ id }) => id)),
    )
  })

  test('do not depend on the order of keys and files', async () => {
    const expected = await digests(DESK)
    const shuffled = fc.shuffledSubarray(Object.keys(DESK), { minLength: Object.keys(DESK).length })
    await fc.assert(
      fc.asyncProperty(shuffled, fc.boolean(), async (paths, reversed) => {
        const files = Object.fromEntries(
          paths.map((path) => [path, reversed && path.endsWith('.yaml') ? reverseTopLevel(DESK[path]!) : DESK[path]!]),
        )
        expect(await digests(files)).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })

  test('change with what an agent does', async () => {
    const before = await bundleOf(DESK)
    const after = await bundleOf(changed(DESK, 'policies/limit.yaml', 'value: 100', 'value: 101'))
    expect(agentOf(after, 'acme.desk').digest).not.toBe(agentOf(before, 'acme.desk').digest)
    expect(agentOf(after, 'acme.clerk').digest).toBe(agentOf(before, 'acme.clerk').digest)
    expect(after.closureDigest).not.toBe(before.closureDigest)
  })

  test('the same rule from two documents is one entry with two origins', async () => {
    const files = {
      ...DESK,
      'policies/same.yaml': DESK['policies/limit.yaml']!.replace('name: limit', 'name: also-limit'),
    }
    const { policies } = agentOf(await bundleOf(files), 'acme.desk')
    const [entry, ...others] = policies.entries.filter(({ effect }) => effect === 'require_approval')
    expect(others).toEqual([])
    expect([entry?.policy, entry?.origin.map(({ doc }) => doc)]).toEqual([
      'acme.also-limit',
      ['acme.limit@2.0.0', 'acme.also-limit@2.0.0'],
    ])
  })
})

/** The top-level keys of a small block-style document the other way round. */
function reverseTopLevel(yaml: string): string {
  if (yaml.startsWith('-')) return yaml
  return yaml
    .trim()
    .split(/\n(?=\S)/)
    .toReversed()
    .join('\n')
}

describe('the registry', () => {
  const withoutTools = Object.fromEntries(Object.entries(DESK).filter(([path]) => path !== 'tools/refunds.yaml'))
  const refunds = (version: string) =>
    bundleOf(changed(DESK, 'tools/refunds.yaml', 'version: 1.0.0', `version: ${version}`), {
      root: 'tools/refunds.yaml',
    })

  test('gives the highest version in range, and no prerelease unless requested', async () => {
    const published = registryOf(
      await refunds('1.0.0'),
      await refunds('1.4.0'),
      await refunds('1.5.0-rc.1'),
      await refunds('2.0.0'),
    )
    const { lock, bundle } = await compileFiles(withoutTools, { published })
    expect(agentOf(bundle!, 'acme.desk').tools.map(({ id, version }) => `${id}@${version}`)).toEqual([
      'acme.orders.lookup@1.0.3',
      'acme.refunds@1.4.0',
    ])
    expect(agentOf(bundle!, 'acme.clerk').tools.map(({ version }) => version)).toEqual(['2.0.0'])
    expect(
      lock?.members
        .filter(({ origin }) => origin === 'registry')
        .map(({ kind, id, version, requested }) => ({ kind, id, version, requested })),
    ).toEqual([
      { kind: 'tool', id: 'acme.refunds', version: '1.4.0', requested: '^1.0' },
      { kind: 'tool', id: 'acme.refunds', version: '2.0.0', requested: undefined },
    ])
  })

  test('keeps the version that the lock chose until it is to be updated', async () => {
    const files = changed(withoutTools, 'agents/clerk.yaml', 'ref: acme.refunds', 'ref: acme.refunds@^1.0')
    const locked = lockedBy(files, await compileFiles(files, { published: registryOf(await refunds('1.0.0')) }))
    const published = registryOf(await refunds('1.0.0'), await refunds('1.4.0'))
    const versionWith = async (options: object) =>
      agentOf(await bundleOf(locked, { published, ...options }), 'acme.desk').tools[1]?.version
    expect(await versionWith({})).toBe('1.0.0')
    expect(await versionWith({ update: 'acme.refunds' })).toBe('1.4.0')
  })

  test('keeps both versions that the lock chose for two ranges', async () => {
    const before = [await refunds('1.4.0'), await refunds('2.0.0')]
    const locked = lockedBy(withoutTools, await compileFiles(withoutTools, { published: registryOf(...before) }))
    const published = registryOf(...before, await refunds('1.5.0'), await refunds('2.5.0'))
    const bundle = await bundleOf(locked, { published })
    expect(agentOf(bundle, 'acme.desk').tools[1]?.version).toBe('1.4.0')
    expect(agentOf(bundle, 'acme.clerk').tools[0]?.version).toBe('2.0.0')
  })

  test('checks a pinned version by its content, not only its number', async () => {
    const files = changed(withoutTools, 'agents/clerk.yaml', 'ref: acme.refunds', 'ref: acme.refunds@^1.0')
    const locked = lockedBy(files, await compileFiles(files, { published: registryOf(await refunds('1.0.0')) }))
    const other = await bundleOf(changed(DESK, 'tools/refunds.yaml', 'Pays money back.', 'Pays.'), {
      root: 'tools/refunds.yaml',
    })
    const { bundle, findings } = await compileFiles(locked, { published: registryOf(other) })
    expect([bundle, findings.map(({ rule }) => rule)]).toEqual([undefined, ['bundle/lock-drift']])
  })

  test('takes no yanked version unless it is pinned', async () => {
    const files = changed(withoutTools, 'agents/clerk.yaml', 'ref: acme.refunds', 'ref: acme.refunds@^1.0')
    const [kept, newer] = [await refunds('1.0.0'), await refunds('1.4.0')]
    const yanked = { ...newer, documents: newer.documents.map((each) => ({ ...each, yanked: true })) }
    const published = registryOf(kept, yanked)
    const chosen = async (from: Files) => agentOf(await bundleOf(from, { published }), 'acme.desk').tools[1]?.version
    expect(await chosen(files)).toBe('1.0.0')
    const locked = lockedBy(files, await compileFiles(files, { published: registryOf(kept, newer) }))
    expect(await chosen(locked)).toBe('1.4.0')
    expect(await chosen(changed(files, 'agents/desk.yaml', 'acme.refunds@^1.0', 'acme.refunds@1.4.0'))).toBe('1.4.0')
  })

  test("the bundle's own documents win", async () => {
    const bundle = await bundleOf(DESK, { published: registryOf(await refunds('1.9.0')) })
    expect(agentOf(bundle, 'acme.desk').tools[1]?.version).toBe('1.0.0')
  })

  test('pins a published agent by version and digest', async () => {
    const first = await bundleOf(DESK)
    const files = changed(DESK, 'agents/desk.yaml', 'ref: agents/clerk.yaml', 'ref: acme.clerk@1.0.0')
    const bundle = await bundleOf(files, { published: registryOf(first) })
    expect(bundle).toEqual({ ...first, agents: first.agents.toReversed() })
  })

  test('records a late-bound agent without following it', async () => {
    const files = changed(DESK, 'agents/desk.yaml', 'ref: agents/clerk.yaml', 'ref: acme.clerk\n      late_bound: true')
    const { bundle, lock } = await compileFiles(files)
    expect(bundle?.agents.map(({ id }) => id)).toEqual(['acme.desk'])
    expect(agentOf(bundle!, 'acme.desk').agents).toEqual([
      { wire: 'ask_clerk', id: 'acme.clerk', lateBound: true, description: '', result: 'summary' },
    ])
    expect(lock?.late_edges).toEqual([{ agent: 'acme.desk', ref: 'acme.clerk' }])
  })
})

describe('svc/max-cost-per-run and svc/model-fallback', () => {
  const [path] = Object.entries(DESK).find(([, text]) => text.includes('svc/input-schema'))!
  const annotated = (annotation: string, more: Files = {}): Files => ({
    ...changed(DESK, path, '{ svc/input-schema', `{ ${annotation}, svc/input-schema`),
    ...more,
  })

  test('the cap is part of the snapshot, and one that cannot be read is refused', async () => {
    const bundle = await bundleOf(annotated('svc/max-cost-per-run: "5.00 EUR"'))
    expect(agentOf(bundle, 'acme.desk').maxCost).toEqual({ amount: '5.00', currency: 'EUR' })
    const { findings } = await compileFiles(annotated('svc/max-cost-per-run: "5 euros"'))
    expect(findings.map(({ rule }) => rule)).toContain('limits/cost-cap')
  })

  test('fallback models may stand in a file of the bundle, which must be there', async () => {
    const bundle = await bundleOf(
      annotated('svc/model-fallback: models.yaml', { 'models.yaml': '- { provider: scripted, name: second }\n' }),
    )
    expect(agentOf(bundle, 'acme.desk').fallback).toEqual([{ provider: 'scripted', name: 'second' }])
    const { findings } = await compileFiles(annotated('svc/model-fallback: missing.yaml'))
    expect(findings.map(({ rule }) => rule)).toContain('model/fallback')
  })
})

describe('svc/max-tool-calls', () => {
  const [path] = Object.entries(DESK).find(([, text]) => text.includes('svc/input-schema'))!
  const bounded = (text: string): Files =>
    changed(DESK, path, '{ svc/input-schema', `{ svc/max-tool-calls: "${text}", svc/input-schema`)

  test('is part of the snapshot', async () => {
    expect(agentOf(await bundleOf(bounded('4')), 'acme.desk').maxToolCalls).toBe(4)
  })

  test.each(['0', '-1', '1.5', 'many', '10000'])('"%s" is refused with its place', async (text) => {
    const { findings } = await compileFiles(bounded(text))
    expect(findings.map(({ rule, message }) => [rule, message])).toContainEqual([
      'limits/whole-number',
      'svc/max-tool-calls is a whole number from 1 to 9999, as text.',
    ])
  })
})
