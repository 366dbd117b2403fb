/**
 * `SVC_TEST_UNTIL`, in seconds since 1970, is when a run that must end in time begins no more files of slow tests, and two minutes later
 * no more files at all. Their tests are skipped then, and named at the end with what else was skipped (`test/summary.ts`).
 */
import { relative } from 'node:path'
import { beforeEach, expect } from 'vitest'
import { isSlowTest } from './slow.ts'

const REST_SECONDS = 120

const until = process.env['SVC_TEST_UNTIL']
const file = relative(process.cwd(), expect.getState().testPath ?? '')
if (until !== undefined && Date.now() / 1000 > Number(until) + (isSlowTest(file) ? 0 : REST_SECONDS))
  beforeEach(({ skip }) => skip('no time left'))
