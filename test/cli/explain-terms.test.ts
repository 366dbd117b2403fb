import { expect, test } from 'vitest'
import { documentTerms } from '../../src/cli/commands/author/document-terms.ts'
import { svc } from './recording-io.ts'

const explain = async (term: string) => await svc(['explain', term], { cwd: import.meta.dirname })

test.each([
  ['Tool', /^Tool {2}A reusable tool contract\.\n {2}apiVersion .*\n(?:.*\n)* {2}spec /],
  [
    'spec.limits',
    /^Agent\.spec\.limits {2}Caps of a whole run\.\n {2}max_tokens_per_run +Input plus output tokens of the run\.\n/,
  ],
  ['agent.spec.model.name', /^Agent\.spec\.model\.name {2}\S/],
  ['gt', /^gt \(operator of conditions\) {2}It compares numbers\. Shown as ">"\.\n$/],
  ['tool.kind', /^tool\.kind \(fact that conditions name\) {2}one of tool, mcp, agent\n$/],
  ['irreversible_action', /^irreversible_action \(side-effect class\) {2}The call cannot be undone\./],
  ['WaitingForHITL', /^WaitingForHITL {2}/],
  ['provider_unreachable', /^provider_unreachable \(reason of a hold\) {2}The run is Running and does nothing for now/],
  ['require_approval', /^require_approval \(decision of a policy\) {2}The call waits until/],
  ['anomaly_review', /^anomaly_review \(kind of task\) {2}A call was sent and nobody knows/],
  ['args.amount', /^args\.amount \(fact that conditions name\) {2}An argument of the call/],
  ['max_loop_iterations', /^Agent\.spec\.limits\.max_loop_iterations {2}\S/],
])('svc explain %s', async (term, text) => {
  const { code, stdout, stderr } = await explain(term)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(text)
})

test('every term that is suggested has a page', async () => {
  const codes = await Promise.all(documentTerms.map(async (term) => (await explain(term)).code))
  expect(documentTerms.filter((_, at) => codes[at] !== 0)).toEqual([])
})

test.each(['spec.modle', 'constructor', 'tool.constructor', '__proto__', 'spec.__proto__'])(
  '%s has none',
  async (term) => {
    expect(await explain(term)).toMatchObject({ code: 5, stdout: '' })
  },
)
