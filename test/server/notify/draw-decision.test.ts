/** The page of a one-time link. Source: docs/design/notifications.md#links-that-decide */
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { drawDecision, drawDecisionWords } from '../../../src/server/console/draw-decision.ts'
import type { ShownTask } from '../../../src/spec/task.ts'
import { aSession, aTask, NOW } from '../../store/makers.ts'

const shown = (about: Partial<ShownTask>): ShownTask => ({
  ...aTask(aSession('a'), 'a', {
    tool: { name: 'refunds', ref: 'pay.refunds', version: '1.0.0', side_effect_class: null },
  }),
  agent: 'pay.clerk@1.0.0',
  approvalsReceived: 0,
  apiCompletable: true,
  ...about,
})

const TAGS =
  /^<(?:!doctype html|\/?(?:html|head|body|main|title|style|h1|dl|dt|dd|ul|li|b|code|small|p|form|fieldset|legend|label|textarea|button|a)\b[^<]*|(?:meta|input) [^<]*)>$/

test('no text of others begins a tag, an attribute or a row', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '\n',
        '\u2028',
        '\u0000',
        '\u202E',
        '<script>',
        '</dd>',
        '</textarea>',
        '"',
        "'",
        '&',
        '<x-evil a="',
        'é',
      ),
      { maxLength: 8 },
    )
    .map((each) => each.join(''))
  const text = fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 200 }))
  fc.assert(
    fc.property(text, text, text, (one, two, three) => {
      const task = shown({
        title: one,
        prompt: two,
        summary: three,
        reasoning: one,
        arguments: { [one]: two, note: three },
      })
      const link = 'https://desk.acme.example/inbox/1'
      const given = { task, email: one, expiresAt: NOW, seal: 'c2VhbA', now: NOW, workspace: two, problem: three, link }
      for (const html of [drawDecision(given), drawDecisionWords({ title: one, text: two, link })]) {
        const tags = html.replace(/<style>.*<\/style>/s, '').match(/<[^>]*>/g)!
        expect(tags.filter((tag) => !TAGS.test(tag) || /\son\w+=|javascript:/i.test(tag))).toEqual([])
        expect(html.match(/<a /g)).toHaveLength(1)
        expect(html).not.toMatch(/[\u2028\u202E]/)
      }
    }),
  )
})
