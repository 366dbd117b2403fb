/** What reading a file itself finds (`yaml.ts`, `read.ts`, `shape.ts`, `suppress.ts`): no check runs for these. */
import type { LintRule } from '../facts/rule.ts'

const FORMAT = 'Authoring format, "Resources and their fields"'
const SECURITY = 'Security, S10 and S26'

export const formRules: readonly LintRule[] = [
  {
    name: 'doc/syntax',
    severity: 'error',
    law: 'A document is YAML 1.2 or JSON, without tags.',
    fix: 'Indent with spaces, close every bracket and quote.',
    source: FORMAT,
    bad: { 'agent.yaml': 'apiVersion: svc/v1\nkind: Agent\nmetadata:\n\tname: desk\n' },
    good: { 'agent.yaml': 'kind: Agent\n' },
  },
  {
    name: 'doc/duplicate-key',
    severity: 'error',
    law: 'A key stands once in its mapping.',
    fix: 'Merge the two.',
    source: FORMAT,
    bad: {
      'bundle.yaml':
        'apiVersion: svc/v1\nkind: Bundle\nkind: Bundle\nmetadata: {name: b, namespace: a, version: "1.0.0"}\nspec: {root: agent.yaml}\n',
      'agent.yaml': 'kind: Agent\n',
    },
    good: { 'agent.yaml': 'kind: Agent\n' },
  },
  {
    name: 'doc/kind-unknown',
    severity: 'error',
    law: 'The kind is one of Agent, Tool, Policy and Bundle.',
    fix: 'Write Agent, Tool, Policy or Bundle.',
    source: FORMAT,
    bad: {
      'agent.yaml':
        'apiVersion: svc/v1\nkind: agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0"}\nspec:\n  purpose: p\n  instructions: {text: t}\n  model: {provider: scripted, name: s}\n',
    },
    good: { 'agent.yaml': 'kind: Agent\n' },
  },
  {
    name: 'doc/api-version',
    severity: 'error',
    law: '`apiVersion` is the constant `svc/v1`.',
    fix: 'Write `apiVersion: svc/v1`.',
    source: 'Authoring format, "Versioning", 1',
    bad: {
      'tool.yaml': 'apiVersion: v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {}\n',
    },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'doc/schema',
    severity: 'error',
    law: 'A document has the fields of its kind, of the right type, and all that are required.',
    fix: 'Write what the field takes: svc schema KIND.',
    source: FORMAT,
    bad: { 'tool.yaml': 'kind: Tool\nspec: []\n' },
    good: { 'tool.yaml': 'kind: Tool\nspec: {description: Refunds an order.}\n' },
  },
  {
    name: 'doc/unknown-key',
    severity: 'error',
    law: 'A document has no properties but those of its kind.',
    fix: 'Correct the name of the key, or remove it.',
    source: 'Authoring format, "Resources and their fields": unknown properties are rejected',
    bad: { 'tool.yaml': 'kind: Tool\nspec: {descripton: Refunds an order.}\n' },
    good: { 'tool.yaml': 'kind: Tool\nspec: {description: Refunds an order.}\n' },
  },
  {
    name: 'doc/misplaced-key',
    severity: 'error',
    law: 'A property stands at the level where it belongs.',
    fix: 'Move it to where it belongs.',
    source: 'Authoring format, "Agent document": `output` is a sibling of `spec`, not nested in it',
    bad: { 'agent.yaml': 'kind: Agent\nspec:\n  output: {format: json}\n' },
    good: { 'agent.yaml': 'kind: Agent\noutput: {format: json}\n' },
  },
  {
    name: 'doc/unquoted-scalar',
    severity: 'error',
    law: 'A text that looks like a number or a truth value stands in quotes.',
    fix: 'Put the text in quotes.',
    source: FORMAT,
    bad: { 'tool.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: 1.10}\n' },
    good: { 'tool.yaml': 'kind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.10.0"}\n' },
  },
  {
    name: 'doc/number-range',
    severity: 'error',
    law: 'A number is kept as it is written: it goes to 9007199254740991 (2^53 - 1) and has no more digits than a double.',
    fix: 'Put it in quotes, where a text may stand.',
    source: 'Decisions, section 1',
    bad: { 'agent.yaml': 'kind: Agent\nspec:\n  limits: {max_tokens_per_run: 9007199254740993}\n' },
    good: { 'agent.yaml': 'kind: Agent\nspec:\n  limits: {max_tokens_per_run: 9007199254740991}\n' },
  },
  {
    name: 'doc/too-large',
    severity: 'error',
    law: 'A file has at most 1 MiB, 64 levels of nesting and 10,000 keys a mapping, and its aliases expand at most a hundredfold.',
    fix: 'Move long texts to files of their own and name them with `ref`.',
    source: 'Bundles, section 2',
    bad: { 'tool.yaml': `apiVersion: svc/v1\nkind: Tool\nspec: ${'['.repeat(65)}${']'.repeat(65)}\n` },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'doc/not-utf8',
    severity: 'error',
    law: 'A file is UTF-8.',
    fix: 'Save the file as UTF-8 without a byte order mark.',
    source: SECURITY,
    bad: {},
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'doc/bom',
    severity: 'warning',
    law: 'A file begins without a byte order mark.',
    fix: 'Save the file as UTF-8 without a byte order mark.',
    source: SECURITY,
    bad: {
      'tool.yaml':
        '\uFEFFapiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {}\n',
    },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'lint/unused-suppression',
    severity: 'warning',
    law: 'A comment that silences a rule silences something.',
    fix: 'Remove the comment.',
    source: 'Lint rules, "Suppress"',
    bad: {
      'tool.yaml':
        '# svc-lint-disable-file id/invalid-semver -- kept from the old system\napiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {}\n',
    },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'lint/suppression-without-reason',
    severity: 'error',
    law: 'A rule about security or authority is silenced with a reason.',
    fix: 'Append the reason: `RULE -- reason`.',
    source: 'Lint rules, "Suppress"',
    bad: {
      'policy.yaml':
        '# svc-lint-disable-file authority/orphan-ref\napiVersion: svc/v1\nkind: Policy\nmetadata: {name: limit, namespace: acme, version: "1.0.0"}\nspec: {decision: {type: deny, authority_ref: spend}}\n',
    },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
  {
    name: 'lint/unknown-rule',
    severity: 'error',
    law: 'A rule that is named exists.',
    fix: 'Correct the name of the rule: svc explain RULE.',
    source: 'Lint rules, "Suppress"',
    bad: {
      'tool.yaml':
        '# svc-lint-disable-file id/semver -- old\napiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {}\n',
    },
    good: { 'tool.yaml': 'kind: Tool\n' },
  },
]
