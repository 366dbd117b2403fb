import { expect, expectTypeOf, test } from 'vitest'
import type { deployAnswer } from '../../src/cli/answers/ship.ts'
import type { ValueOf } from '../../src/operations/schema.ts'
import type { CommandContext } from '../../src/cli/shell/command.ts'
import { createOutput } from '../../src/cli/shell/output.ts'
import { modeOf } from '../../src/cli/shell/mode.ts'

const answer: ValueOf<typeof deployAnswer> = {
  agentId: 'a',
  from: null,
  to: '1.0.0',
  expiresAt: null,
  agentVersionId: 'v',
  runningOnOld: 0,
}

test('a command prints the answer that its schema describes, and nothing else compiles', async () => {
  let printed = ''
  const sink = { write: (text: string) => void (printed += text), isTTY: false, width: 80 }
  const out: CommandContext<ValueOf<typeof deployAnswer>>['out'] = createOutput(
    sink,
    sink,
    modeOf({ json: true }, { stdout: sink, stderr: sink, stdin: { isTTY: false }, env: {} } as never),
  )
  await out.json(answer)
  expect(JSON.parse(printed)).toEqual(answer)
  // @ts-expect-error a property that the schema does not have
  await out.json({ ...answer, wrong: 1 })
  // @ts-expect-error a property of another type
  await out.json({ ...answer, runningOnOld: '0' })
})

test('a command that declares no answer prints no JSON, and its helpers work for every command', () => {
  expectTypeOf<Parameters<CommandContext['out']['json']>>().toEqualTypeOf<[value: never]>()
  expectTypeOf<CommandContext<{ total: number }>>().toExtend<CommandContext>()
})
