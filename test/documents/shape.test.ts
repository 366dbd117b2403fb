import { describe, expect, test } from 'vitest'
import { applyFixes } from '../../src/documents/workspace/fix.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { readDocuments } from '../../src/documents/workspace/read.ts'

const agent = (spec: string, beside = ''): string => `apiVersion: svc/v1
kind: Agent
metadata: {name: desk, namespace: acme, version: "1.0.0"}
${beside}spec:
  purpose: p
${spec.includes('instructions') ? '' : '  instructions: {text: t}\n'}${spec.includes('model:') ? '' : '  model: {provider: scripted, name: s}\n'}${spec}`
const policy = (spec: string): string => `apiVersion: svc/v1
kind: Policy
metadata: {name: limit, namespace: pay, version: "1.0.0"}
spec:
${spec}`

/** One line a finding: rule, what is underlined, message. */
const shape = (text: string): string[] =>
  readDocuments({ path: 'x.yaml', text }, { named: true }).findings.map(
    ({ rule, range, message }) => `${rule} [${text.slice(range.start.offset, range.end.offset)}] ${message}`,
  )

describe('each fault is reported once', () => {
  test.each<[string, string, string[]]>([
    ['a document without faults', agent(''), []],
    [
      'an unknown key with a near one',
      agent('  tool: []\n'),
      ['doc/unknown-key [tool] `tool` is not a key of spec. Did you mean `tools`?'],
    ],
    [
      'a slip that leaves a required key out',
      agent('  instruction: {text: t}\n').replace('  instructions: {text: t}\n', ''),
      ['doc/unknown-key [instruction] `instruction` is not a key of spec. Did you mean `instructions`?'],
    ],
    ['a key that is nowhere', agent('  banana: 1\n'), ['doc/unknown-key [banana] `banana` is not a key of spec.']],
    [
      'output inside spec',
      agent('  output: {format: json}\n'),
      ['doc/misplaced-key [output] `output` does not belong in spec but at the top level, beside `spec`.'],
    ],
    [
      'secrets inside spec',
      agent('  secrets: {}\n'),
      ['doc/misplaced-key [secrets] `secrets` does not belong in spec but at the top level, beside `spec`.'],
    ],
    [
      'instructions as other formats write them',
      agent('  instructions: {inline: t}\n'),
      ['doc/unknown-key [inline] `inline` is not a key of spec.instructions.'],
    ],
    [
      'what belongs in a mapping that is not there either',
      'apiVersion: svc/v1\nkind: Tool\nname: a\nnamespace: b\nversion: 1.0.0\nside_effect_class: read_only\n',
      [
        'doc/misplaced-key [name] `name` does not belong in the top level but at `metadata.name`.',
        'doc/misplaced-key [namespace] `namespace` does not belong in the top level but at `metadata.namespace`.',
        'doc/misplaced-key [version] `version` does not belong in the top level but at `metadata.version`.',
        'doc/misplaced-key [side_effect_class] `side_effect_class` does not belong in the top level but at `spec.side_effect_class`.',
      ],
    ],
    [
      'a limit outside limits',
      agent('  max_loop_iterations: 3\n'),
      [
        'doc/misplaced-key [max_loop_iterations] `max_loop_iterations` does not belong in spec but at `spec.limits.max_loop_iterations`.',
      ],
    ],
    [
      'a model parameter beside the model',
      agent('  model: {provider: scripted, name: s, temperature: 1}\n'),
      [
        'doc/misplaced-key [temperature] `temperature` does not belong in spec.model but at `spec.model.parameters.temperature`.',
      ],
    ],
    [
      'a JSON Schema without its key',
      agent('', 'output: {schema: {type: object, properties: {}, required: [a]}}\n'),
      ['doc/misplaced-key [schema] output.schema holds a JSON Schema itself, which belongs under `inline`.'],
    ],
    [
      'what other formats call the system prompt',
      agent('  prompt: Help.\n').replace('  instructions: {text: t}\n', ''),
      ['doc/unknown-key [prompt] `prompt` is not a key of spec.'],
    ],
    [
      'a tool that is named as elsewhere',
      agent('  tools: [{name: refund}]\n'),
      ['doc/unknown-key [name] A tool binding must not set `name`.'],
    ],
    [
      'two keys that nobody knows, where two are missing',
      agent('').replace('metadata: {name: desk, namespace: acme', 'metadata: {zzz: desk, yyy: acme'),
      [
        'doc/unknown-key [zzz] `zzz` is not a key of metadata, which needs `name` and `namespace`.',
        'doc/unknown-key [yyy] `yyy` is not a key of metadata.',
      ],
    ],
    [
      'a word that is only begun',
      agent('  tools: [{ref: a.b, side_effect_class: irreversible}]\n'),
      [
        'doc/schema [irreversible] spec.tools[0].side_effect_class must be one of `read_only`, `idempotent_write`, `non_idempotent_write`, `irreversible_action`, but is "irreversible". Did you mean "irreversible_action"?',
      ],
    ],
    [
      'a merge key',
      agent('').replace('metadata: {', 'metadata: {<<: {}, '),
      ['doc/unknown-key [<<] Merge keys are not read: YAML 1.2 has none.'],
    ],
    ...['name', 'version', 'parameters', 'policy', 'agent'].map((key): [string, string, string[]] => [
      `a binding with ${key}`,
      agent(`  tools: [{ref: a.b, ${key}: x}]\n`),
      [`doc/unknown-key [${key}] A tool binding must not set \`${key}\`.`],
    ]),
    [
      'both ref and text',
      agent('  instructions: {ref: a.md, text: t}\n'),
      ['doc/schema [instructions] spec.instructions has more than one of `ref` or `text`.'],
    ],
    [
      'neither ref nor text',
      agent('  instructions: {version: 1}\n'),
      ['doc/schema [instructions] spec.instructions needs exactly one of `ref` or `text`.'],
    ],
    [
      'both ref and inline',
      agent('', 'output: {schema: {ref: a, inline: {a: 1}}}\n'),
      ['doc/schema [schema] output.schema has more than one of `ref` or `inline`.'],
    ],
    [
      'an empty inline schema',
      agent('', 'output: {schema: {inline: {}}}\n'),
      ['doc/schema [inline] output.schema.inline must not be empty.'],
    ],
    [
      'both temperature and top_p',
      agent('  model: {provider: scripted, name: s, parameters: {temperature: 1, top_p: 1}}\n'),
      ['doc/schema [parameters] `temperature` and `top_p` must not both be set.'],
    ],
    [
      'base_url with a provider that has its own',
      agent('  model: {provider: anthropic, name: s, base_url: "https://x"}\n'),
      ['doc/schema [base_url] `base_url` belongs to openai-compatible providers only.'],
    ],
    ...['openai-compatible', 'vendor_b-compatible'].map((provider): [string, string, string[]] => [
      `${provider} without base_url`,
      agent(`  model: {provider: ${provider}, name: s}\n`),
      ['doc/schema [model] `base_url` is missing: an openai-compatible provider has no address of its own.'],
    ]),
    [
      'scheme header without header',
      agent('  mcp_servers: [{name: s, url: "https://x", auth: {scheme: header, secret: k}}]\n'),
      ['doc/schema [auth] `header` is missing: with `scheme: header` the secret is sent in the header that is named.'],
    ],
    ['a wrong type', agent('  tools: {}\n'), ['doc/schema [tools] spec.tools must be a list, but is a mapping.']],
    ['an empty value', agent('  tools:\n'), ['doc/schema [] spec.tools must be a list, but is empty.']],
    [
      'an attachment that is a number',
      agent('  default_policies: [1]\n'),
      ['doc/unquoted-scalar [1] spec.default_policies[0] must be a string, but 1 without quotes is a number.'],
    ],
    [
      'an attachment without ref',
      agent('  default_policies: [{}]\n'),
      ['doc/schema [{] spec.default_policies[0] needs `ref`.'],
    ],
    [
      'a fraction where a whole number is wanted',
      agent('  limits: {max_tokens_per_run: 1.5}\n'),
      ['doc/schema [1.5] spec.limits.max_tokens_per_run must be an integer, but is a number.'],
    ],
    [
      'a label that is a number',
      agent('').replace('"1.0.0"}', '"1.0.0", labels: {tier: 1}}'),
      ['doc/unquoted-scalar [1] metadata.labels.tier must be a string, but 1 without quotes is a number.'],
    ],
    [
      'a version that is a number',
      agent('').replace('"1.0.0"', '1.10'),
      ['doc/unquoted-scalar [1.10] metadata.version must be a string, but 1.10 without quotes is a number (1.1).'],
    ],
    [
      'a secret name with a capital',
      agent('', 'secrets: {Key: {fromEnv: K}}\n'),
      [
        'doc/schema [Key] "Key" cannot be a name here. A secret name begins with a lower-case letter and has only lower-case letters, digits, `_` and `-`.',
      ],
    ],
    [
      'a word that is not offered',
      policy('  decision: {type: alow}\n'),
      [
        'doc/schema [alow] spec.decision.type must be one of `allow`, `deny`, `require_approval`, `escalate`, `block`, but is "alow". Did you mean "allow"?',
      ],
    ],
    [
      'all that is missing in one sentence',
      policy('  decision: {type: deny, timeout: {}}\n'),
      ['doc/schema [timeout] spec.decision.timeout needs `after_minutes` and `default`.'],
    ],
    [
      'a boolean of YAML 1.1',
      policy('  decision: {type: deny, comprehension_required: yes}\n'),
      [
        'doc/yaml11-boolean [yes] spec.decision.comprehension_required must be true or false; YAML 1.2 reads `yes` as text.',
      ],
    ],
    [
      'several faults',
      policy('  scop: x\n  decision: {type: deny, reason: 5}\n'),
      [
        'doc/unknown-key [scop] `scop` is not a key of spec. Did you mean `scope`?',
        'doc/unquoted-scalar [5] spec.decision.reason must be a string, but 5 without quotes is a number.',
      ],
    ],
    [
      'a wrong apiVersion',
      policy('  decision: {type: deny}\n').replace('svc/v1', 'svc/v2'),
      ['doc/api-version [svc/v2] apiVersion must be `svc/v1`, but is "svc/v2".'],
    ],
    [
      'a missing apiVersion',
      policy('  decision: {type: deny}\n').replace('apiVersion: svc/v1\n', ''),
      ['doc/api-version [kind] `apiVersion: svc/v1` is missing.'],
    ],
    [
      'an apiVersion whose key is a slip, without a kind',
      'apiversion: svc/v1\nmetadata: {name: a}\n',
      [
        'doc/unknown-key [apiversion] `apiversion` is not a key of the top level. Did you mean `apiVersion`?',
        'doc/kind-unknown [apiversion] `kind` is missing: Agent, Tool, Policy or Bundle.',
      ],
    ],
    [
      'an unknown kind whose key is a slip',
      'apiVersion: svc/v1\nKind: Workflow\n',
      ['doc/unknown-key [Kind] `Kind` is not a key of the top level. Did you mean `kind`?'],
    ],
    [
      'a kind in the wrong case',
      policy('  decision: {type: deny}\n').replace('Policy', 'policy'),
      ['doc/kind-unknown [policy] kind must be Agent, Tool, Policy or Bundle, but is "policy". Did you mean "Policy"?'],
    ],
    [
      'an unknown kind',
      policy('').replace('Policy', 'Workflow'),
      ['doc/kind-unknown [Workflow] kind must be Agent, Tool, Policy or Bundle, but is "Workflow".'],
    ],
    [
      'no mapping at all',
      '- 1\n',
      ['doc/schema [-] A document is a mapping with `apiVersion`, `kind`, `metadata` and `spec`.'],
    ],
  ])('%s', (_, text, expected) => {
    expect(shape(text)).toEqual(expected)
  })
})

test.each(['non_read_only', 'not_read_only', 'Not Read-Only', 'notReadOnl'])(
  'a word is never taken for its opposite: %s',
  (written) => {
    const text = `apiVersion: svc/v1\nkind: Tool\nmetadata: {name: a, namespace: b, version: 1.0.0}\nspec: {side_effect_class: ${written}}\n`
    const { findings } = readDocuments({ path: 'x.yaml', text })
    expect(findings.map(({ rule, fix }) => [rule, fix])).toEqual([['doc/schema', undefined]])
  },
)

/** One line a finding: what is underlined, message, remedy; and the file after `--fix`, where that writes anything. */
const findingsAndFix = (text: string): (string | undefined)[] => {
  const workspace = loadFiles({ 'x.yaml': text }, { focus: ['x.yaml'] })
  const found = workspace.findings.map(
    ({ range, message, fix }) =>
      `[${text.slice(range.start.offset, range.end.offset)}] ${message} ${fix?.description ?? ''}`,
  )
  const fixed = applyFixes(workspace, workspace.findings).get('x.yaml')
  const lines = fixed?.split('\n').filter((line) => !text.split('\n').includes(line))
  return [...found, ...(lines ?? [])]
}

const tool = (spec: string): string =>
  `apiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: ${spec}\n`
const bundle = (spec: string): string =>
  `apiVersion: svc/v1\nkind: Bundle\nmetadata: {name: all, namespace: pay, version: "1.0.0"}\nspec: ${spec}\n`

describe('what was meant is said, and written where that is certain', () => {
  test.each<[string, string, string[]]>([
    [
      'a number in quotes',
      agent('  limits: {max_tokens_per_run: "500"}\n'),
      [
        '["500"] spec.limits.max_tokens_per_run must be an integer, but is a string. Write 500 without quotes.',
        '  limits: {max_tokens_per_run: 500}',
      ],
    ],
    [
      'a fraction in quotes where a whole number is wanted',
      agent('  limits: {max_tokens_per_run: "0.5"}\n'),
      ['["0.5"] spec.limits.max_tokens_per_run must be an integer, but is a string. '],
    ],
    [
      'a truth value in quotes',
      policy('  decision: {type: deny, comprehension_required: "true"}\n'),
      [
        '["true"] spec.decision.comprehension_required must be a boolean, but is a string. Write true without quotes.',
        '  decision: {type: deny, comprehension_required: true}',
      ],
    ],
    [
      'one text where a list is wanted',
      agent('  default_policies: pay.limit\n'),
      [
        '[pay.limit] spec.default_policies must be a list, but is a string. Write it as the only item of a list.',
        '  default_policies: [pay.limit]',
      ],
    ],
    [
      'a list of one text where a text is wanted',
      policy('  scope: [tool:pay.refund]\n'),
      [
        '[scope] spec.scope must be a string, but is a list. Write the text without brackets.',
        '  scope: tool:pay.refund',
      ],
    ],
    [
      'a list of several texts where one is wanted',
      policy('  scope: [tool:pay.refund, tool:pay.wire]\n'),
      ['[scope] spec.scope must be a string, but is a list. '],
    ],
    [
      'tools by name',
      agent('  tools: {refund: {ref: pay.refund}}\n'),
      [
        '[tools] spec.tools must be a list, but is a mapping. Write each entry as an item of a list, with `-` before it.',
      ],
    ],
    [
      'a model as a text',
      agent('  model: large\n'),
      [
        '[large] spec.model must be a mapping, but is a string. Its keys are `provider`, `name`, `base_url`, `secret`, `parameters`, `reasoning` and `provider_options`.',
      ],
    ],
    [
      'a decision as a word',
      policy('  decision: deny\n'),
      ['[deny] spec.decision must be a mapping, but is a string. Write it under `type`.', '  decision: { type: deny }'],
    ],
    [
      'conditions as a list',
      policy('  conditions: [{field: args.a, op: eq, value: 1}]\n'),
      ['[conditions] spec.conditions must be a mapping, but is a list. Write the comparisons under `all` or `any`.'],
    ],
    [
      'another transport',
      agent('  mcp_servers: [{name: s, url: "https://x", transport: sse}]\n'),
      ['[sse] spec.mcp_servers[0].transport must be `streamable_http`, but is "sse". Write streamable_http.'],
    ],
    [
      'the cap of an answer as elsewhere',
      agent('  model: {provider: scripted, name: s, parameters: {max_tokens: 5}}\n'),
      [
        '[max_tokens] `max_tokens` is not a key of spec.model.parameters. Write max_output_tokens.',
        '  model: {provider: scripted, name: s, parameters: {max_output_tokens: 5}}',
      ],
    ],
    [
      'the time of a decision as elsewhere',
      policy('  decision: {type: require_approval, timeout: {minutes: 5, default: deny}}\n'),
      [
        '[minutes] `minutes` is not a key of spec.decision.timeout. Write after_minutes.',
        '  decision: {type: require_approval, timeout: {after_minutes: 5, default: deny}}',
      ],
    ],
    [
      'the arguments of a tool as elsewhere',
      tool('{parameters: {type: object}}'),
      [
        '[parameters] `parameters` is not a key of spec. The arguments are described by `input_schema`: `{ inline: … }`, or a file: `{ ref: schemas/NAME.json }`.',
      ],
    ],
    [
      'where a tool runs',
      tool('{url: "https://x"}'),
      [
        '[url] `url` is not a key of spec. A tool contract does not say where the tool runs: that stands in svc.config.yaml under `tools`, or in `mcp` of the binding.',
      ],
    ],
    [
      'annotations of a Tool',
      tool('{}').replace('version:', 'annotations: {a: b}, version:'),
      ['[annotations] `annotations` is not a key of metadata. Only an Agent has it; `labels` describe every document.'],
    ],
    [
      'the members of a bundle',
      bundle('{agents: [a.yaml]}'),
      [
        '[agents] `agents` is not a key of spec. A bundle is the directory of its document; only the root Agent is named: `root: agents/NAME.yaml`.',
      ],
    ],
    [
      'the root of a bundle as elsewhere',
      bundle('{entrypoint: a.yaml}'),
      ['[entrypoint] `entrypoint` is not a key of spec. Write root.', 'spec: {root: a.yaml}'],
    ],
    [
      'a text that begins with what YAML keeps for itself',
      policy('  description: @team only\n'),
      ['[@] A text without quotes cannot begin with "@". Put the value in quotes.'],
    ],
    [
      'a text with a colon',
      policy('  description: Refunds: large ones\n'),
      [
        '[:] This does not continue the mapping: a colon too many, or wrong indentation. Put the value in quotes: it has a colon.',
      ],
    ],
    [
      'a key that is glued to its value',
      policy('  description:large\n  scope: tool:pay.refund\n'),
      [
        '[:] This does not continue the mapping: a colon too many, or wrong indentation. Write a space behind the colon of `description:`.',
      ],
    ],
    [
      'a merge conflict',
      policy('  description: large\n').replace(
        'metadata',
        '<<<<<<< HEAD\nx: 1\n=======\ny: 1\n>>>>>>> theirs\nmetadata',
      ),
      ['[<<<<<<<] A merge conflict is not resolved here. Keep one of the two.'],
    ],
    [
      'a tab before a bracket',
      policy('  description: large\n').replace('metadata: {', 'metadata:\t{'),
      ['[\t] A tab stands before a bracket or in it. Write a space.'],
    ],
    [
      'a tab within brackets',
      policy('  description: large\n').replace('name: limit', 'name:\tlimit'),
      ['[\t] A tab stands before a bracket or in it. Write a space.'],
    ],
    [
      'a quote that is not closed',
      policy('  description: "large\n  scope: tool:pay.refund\n'),
      ['[s] A bracket or quote is not closed, or the next line is indented too little. Close the " of the line above.'],
    ],
    [
      'a bracket that is not closed',
      policy('  allow: [EUR, "[USD]"\n  scope: tool:pay.refund\n'),
      ['[s] A bracket or quote is not closed, or the next line is indented too little. Close the [ of the line above.'],
    ],
    [
      'lines that are indented unlike each other',
      policy('   description: large\n  scope: tool:pay.refund\n'),
      [
        '[s] This does not continue the mapping: a colon too many, or wrong indentation. Lines of one mapping are indented alike: the line above by 3 spaces, this one by 2.',
      ],
    ],
  ])('%s', (_, text, expected) => {
    expect(findingsAndFix(text)).toEqual(expected)
  })
})

describe('what the format allows is accepted', () => {
  test.each([
    ['any provider name', agent('  model: {provider: acme-llm, name: s}\n')],
    ['a numeric version of instructions', agent('  instructions: {ref: a.md, version: 2}\n')],
    ['conditions of any form', policy('  conditions: {what: ever}\n  decision: {type: deny}\n')],
    ['a policy without anything', policy('  {}\n')],
    [
      'any payload of a framework',
      agent('').replace('"1.0.0"}', '"1.0.0", governance: {frameworks: {soc2: [1, {a: null}]}}}'),
    ],
    [
      'transport and auth of an MCP server',
      agent(
        '  mcp_servers: [{name: s, url: "https://x", transport: streamable_http, auth: {scheme: header, secret: k, header: X-Key}}]\n',
      ),
    ],
  ])('%s', (_, text) => {
    expect(shape(text)).toEqual([])
  })
})
