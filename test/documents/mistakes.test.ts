/** Common mistakes are told by name, with what to write instead. */
import { expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { fixProject } from '../../src/documents/lint/fix-project.ts'

const policy = (spec: string): string =>
  `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: limit, namespace: acme, version: 1.0.0 }\nspec:\n${spec}\n`
const agent = (top: string, instructions = 'Help.', spec = ''): string =>
  `apiVersion: svc/v1\nkind: Agent\nmetadata: { name: desk, namespace: acme, version: 1.0.0, owner: team }\n${top}spec:
  purpose: Helps.
  instructions: { text: ${JSON.stringify(instructions)} }
  model: { provider: vendor, base_url: "https://models.example/v1", name: m, secret: k }
  limits: { max_loop_iterations: 5, max_tokens_per_run: 1000 }
${spec}`
const K = 'secrets: { k: { fromEnv: K } }\n'

/** Errors, and warnings of a rule; each with what it underlines, and its remedy. */
const told = (text: string, rule?: string): string[] =>
  lintWorkspace(loadFiles({ 'a.yaml': text }))
    .filter((each) => (rule === undefined ? each.severity === 'error' : each.rule === rule))
    .map(({ message, range, fix, rule: name }) => {
      const where = text.slice(range.start.offset, range.end.offset)
      return [
        name,
        where,
        message,
        fix?.description ?? '',
        fix?.unsafe ? 'offered' : fix?.edits.length ? 'safe' : 'advice',
      ].join(' | ')
    })

test.each([
  [
    'a comparison as a text',
    policy('  conditions: args.amount > 100\n  decision: { type: deny }'),
    'policy/condition-syntax | args.amount > 100 | spec.conditions must be a mapping, but is a string. | Write {when: "args.amount > 100"}. | safe',
  ],
  [
    'several comparisons as a text',
    policy('  conditions: args.amount > 100 and args.country != "DE"\n  decision: { type: deny }'),
    'policy/condition-syntax | args.amount > 100 and args.country != "DE" | spec.conditions must be a mapping, but is a string. | Write {when: \'args.amount > 100 and args.country != "DE"\'}. | safe',
  ],
  [
    'several comparisons as a text below all',
    policy('  conditions: { all: [ args.x == "it\'s" or args.x exists ] }\n  decision: { type: deny }'),
    "policy/condition-syntax | args.x == \"it's\" or args.x exists | A condition is a mapping: all, any, not, when, or a field to compare. | Write {when: 'args.x == \"it''s\" or args.x exists'}. | safe",
  ],
  [
    'comparisons in the words of another language',
    policy("  conditions: args.amount > 100 && args.country != 'DE'\n  decision: { type: deny }"),
    "policy/condition-syntax | args.amount > 100 && args.country != 'DE' | spec.conditions must be a mapping, but is a string. | Write it under `when`: `{when: 'args.NAME > 100 and args.OTHER == \"text\"'}`. | advice",
  ],
  [
    'a template as a value',
    policy('  decision: { type: deny }').replace('name: limit', 'name: {{ .Values.name }}'),
    'doc/syntax | {{ .Values.name }} | A template was not filled in: "{{ .Values.name }}". | Write the value, or run the template before svc reads the file. | advice',
  ],
  [
    'a template with more behind it',
    policy('  description: {{ name }}-limit\n  decision: { type: deny }'),
    'doc/syntax | {{ name }} | A template was not filled in: "{{ name }}". | Write the value, or run the template before svc reads the file. | advice',
  ],
  [
    'a pattern between slashes',
    policy('  conditions: { field: args.country, op: matches, value: "/^DE$/" }\n  decision: { type: deny }'),
    'policy/pattern-invalid | "/^DE$/" | The slashes of "/^DE$/" are part of the pattern, so no value matches it. | Write ^DE$. | offered',
  ],
  [
    'a word for a decision',
    policy('  decision: { type: approval }'),
    'doc/schema | approval | spec.decision.type must be one of `allow`, `deny`, `require_approval`, `escalate`, `block`, but is "approval". Did you mean "require_approval"? | Write require_approval. | offered',
  ],
  [
    'a time as a time-out',
    policy('  decision: { type: require_approval, timeout: 2h }'),
    'doc/schema | 2h | spec.decision.timeout must be a mapping, but is a string. | Write {after_minutes: 120, default: deny}. | offered',
  ],
  [
    'a time as minutes',
    policy('  decision: { type: require_approval, timeout: { after_minutes: 30m, default: deny } }'),
    'doc/schema | 30m | spec.decision.timeout.after_minutes must be an integer, but is a string. | Write 30. | safe',
  ],
  [
    'all that is wrong with hours',
    policy(
      '  conditions: { field: time.now, op: within, value: { day: [mon], from: "9:00", tz: Berlin } }\n  decision: { type: deny }',
    ),
    'policy/type-mismatch | value | `within` has no key "day"; it has days, from, to, tz. from and to go together. from and to are written "HH:MM", from 00:00 to 23:59 (to: also "24:00"). tz is not a time zone of the IANA database. |  | advice',
  ],
  [
    'an indentation that is too deep',
    policy('  conditions:\n    field: args.amount\n      op: gt\n      value: 100\n  decision: { type: deny }'),
    'doc/syntax | : | This does not continue the mapping: a colon too many, or wrong indentation. | Lines of one mapping are indented alike: the line above by 4 spaces, this one by 6. | advice',
  ],
  [
    'an indentation that is too deep below a value in brackets',
    policy('  description: { a: b }\n   decision: { type: deny }'),
    'doc/syntax | d | This does not continue the mapping: a colon too many, or wrong indentation. | Lines of one mapping are indented alike: the line above by 2 spaces, this one by 3. | advice',
  ],
  [
    'a condition on one line beside `decision`',
    policy('  when: args.amount > 100\n  decision: { type: deny }'),
    'doc/unknown-key | when | `when` is not a key of spec. | Conditions go under `conditions`: `conditions: {when: args.amount > 100}`. | advice',
  ],
  [
    'a number in a condition that cannot be kept exactly',
    policy('  conditions: { field: args.amount, op: gt, value: 1e400 }\n  decision: { type: deny }'),
    'doc/number-range | 1e400 | The number 1e400 cannot be represented exactly. | Put the number in quotes if the field accepts a string. | advice',
  ],
  [
    'a word for a scope',
    policy('  scope: agent\n  decision: { type: deny }'),
    'policy/scope-syntax | agent | "agent" is no scope: a scope names one tool, as `tool:namespace.name`. | Write tool:namespace.name, or leave `scope` out: the policy then concerns every call that it is attached to. | advice',
  ],
])('%s', (_, text, expected) => {
  expect(told(text)).toEqual([expected])
})

test.each(['/api/v1', '/api/', '^/api/$', 'a/^b'])('slashes that may be meant stay: %s', (pattern) => {
  expect(
    told(policy(`  conditions: { field: args.path, op: matches, value: "${pattern}" }\n  decision: { type: deny }`)),
  ).toEqual([])
})

test('a condition as a text is mended to `when`, which means the same', async () => {
  const written = (condition: string): string => policy(`  conditions: ${condition}\n  decision: { type: deny }`)
  expect(await mended(written('args.amount > 100 and args.country != "DE"'))).toBe(
    written(`{when: 'args.amount > 100 and args.country != "DE"'}`),
  )
  expect(await mended(written(`{ any: [ args.x == "it's" or args.y exists, args.amount > 1 ] }`))).toBe(
    written(`{ any: [ {when: 'args.x == "it''s" or args.y exists'}, {when: "args.amount > 1"} ] }`),
  )
  expect(await mended(written('args.amount > 100'))).toBe(written('{when: "args.amount > 100"}'))
  expect(await mended(written('args.country eq DE'))).toBe(written('{field: args.country, op: eq, value: DE}'))
})

const PLACEHOLDER = 'agent/instructions-placeholder'

test.each([
  ['Answer for {{company}}.', '{{company}}'],
  ['Sign as <your name>.', '<your name>'],
  ['Opening hours: TBD', 'TBD'],
  ['TODO: say how refunds work.', 'TODO:'],
  ['Write `{{x}}` never, but greet [insert name].', '[insert name]'],
])('a placeholder in instructions: %s', (text, found) => {
  expect(told(agent(K, text), PLACEHOLDER)).toEqual([
    expect.stringContaining(`"${found}" was never filled in.`) as string,
  ])
})

test.each([
  'Keep `{{name}}` in letters.',
  'A letter looks like this:\n```\nDear {{name}},\nTODO: body\n```\nThank you.',
  'A letter looks like this:\n~~~text\n<your name>\n~~~',
  'A fence that stays open:\n```\n{{name}}',
  'Never fill in placeholders such as {{name}}.',
  'Close issues that are marked as TODO or FIXME.',
])('what instructions only speak of is none: %s', (text) => {
  expect(told(agent(K, text), PLACEHOLDER)).toEqual([])
})

test.each(['`'.repeat(200_000), '` `` '.repeat(40_000), '```\n'.repeat(40_000), '~'.repeat(200_000)])(
  'hostile code marks are gone through at once: %#',
  (marks) => {
    const since = process.cpuUsage()
    told(agent(K, `${marks} {{name}}`), PLACEHOLDER)
    expect(process.cpuUsage(since).user / 1000).toBeLessThan(3000)
  },
)

test('how a harmless write is accepted is reported once', () => {
  const tool = (name: string): string =>
    `apiVersion: svc/v1\nkind: Tool\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0 }\nspec: { description: Notes it., side_effect_class: non_idempotent_write }\n`
  const files = {
    'a.yaml': agent(K, 'Help.', '  tools: [{ ref: acme.note@^1 }, { ref: acme.log@^1 }]\n'),
    'b.yaml': agent(K, 'Help.', '  tools: [{ ref: acme.note@^1 }]\n').replace('name: desk', 'name: other'),
    'note.yaml': tool('note'),
    'log.yaml': tool('log'),
  }
  const fixes = lintWorkspace(loadFiles(files)).flatMap(({ rule, fix }) =>
    rule === 'security/write-without-approval' ? [fix?.description] : [],
  )
  expect(fixes).toEqual([
    'Attach a policy that asks, denies or bounds; for a harmless write, put `# svc-lint-disable-next-line security/write-without-approval -- WHY` above its binding, or `security/write-without-approval: off` under `lint.rules` of svc.config.yaml.',
    undefined,
    undefined,
  ])
})

/** What `svc lint --fix` leaves. */
const mended = async (text: string): Promise<string> => {
  const check = (overlay: Readonly<Record<string, string>>) => {
    const workspace = loadFiles({ 'a.yaml': text, ...overlay })
    return Promise.resolve({ workspace, findings: lintWorkspace(workspace) })
  }
  return (await fixProject(check as Parameters<typeof fixProject>[0], {})).texts['a.yaml'] ?? text
}

test.each([
  ['secrets: {k: ${ANTHROPIC_API_KEY}}\n', 'secrets: {k: {fromEnv: ANTHROPIC_API_KEY}}\n'],
  ['secrets: {other: ${ANTHROPIC_API_KEY}}\n', 'secrets: {other: {fromEnv: ANTHROPIC_API_KEY}}\n'],
  ['secrets:\n  k: ${KEY}\n', 'secrets:\n  k: { fromEnv: KEY }\n'],
  ['secrets:\n  k: "$KEY"\n', 'secrets:\n  k: { fromEnv: KEY }\n'],
  ['secrets:\n  k: { fromEnv: K }\n  other: ${KEY}\n', 'secrets:\n  k: { fromEnv: K }\n  other: { fromEnv: KEY }\n'],
  ['secrets:\n  k: { fromEnv: K }\n  other: KEY\n', 'secrets:\n  k: { fromEnv: K }\n  other: { fromEnv: KEY }\n'],
  ['secrets:\n  k: { env: KEY }\n', 'secrets:\n  k: { fromEnv: KEY }\n'],
  ['secrets:\n  k: { fromEnv: "${KEY}" }\n', 'secrets:\n  k: { fromEnv: KEY }\n'],
  // `model.secret` names k: this may be the one that is meant.
  ['secrets: { key: { fromEnv: KEY } }\n', 'secrets: { key: { fromEnv: KEY } }\n'],
  // Has no effect.
  ['secrets: { k: { fromEnv: K }, old: { fromEnv: OLD } }\n', 'secrets: { k: { fromEnv: K } }\n'],
])('a safe fix removes no secret that its author meant: %j', async (before, after) => {
  expect(await mended(agent(before))).toBe(agent(after))
})
