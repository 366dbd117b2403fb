import { expect, test } from 'vitest'
import { announcesChange, leastVersion } from '../../src/compile/diff/bump.ts'

test.each([
  ['1.2.3', 'patch', '1.2.4'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'major', '2.0.0'],
  ['0.2.3', 'patch', '0.2.4'],
  ['0.2.3', 'minor', '0.3.0'],
  ['0.2.3', 'major', '0.3.0'],
] as const)('after %s a %s change is at least %s', (latest, required, least) => {
  expect(leastVersion(latest, required)).toBe(least)
  expect(announcesChange(latest, least, required)).toBe(true)
})

test.each([
  ['1.0.0', '1.0.1', ['patch']],
  ['1.0.0', '1.1.0', ['patch', 'minor']],
  ['1.0.0', '2.0.0', ['patch', 'minor', 'major']],
  ['1.0.0', '2.0.0-rc.1', ['patch', 'minor', 'major']],
  ['0.1.0', '0.1.1', ['patch']],
  ['0.1.0', '0.2.0', ['patch', 'minor', 'major']],
  ['0.1.0', '1.0.0', ['patch', 'minor', 'major']],
  ['1.1.0', '1.1.0', []],
  ['1.1.0', '1.0.9', []],
  ['2.0.0', '1.9.0', []],
] as const)('%s to %s announces %j', (latest, next, announced) => {
  expect((['patch', 'minor', 'major'] as const).filter((each) => announcesChange(latest, next, each))).toEqual(
    announced,
  )
})
