import { configureGlobal } from 'fast-check'

/**
 * Property tests play the same cases in every run, so that a failure belongs to the change that shows it. Another seed is
 * another set of cases: `SVC_TEST_SEED=7 npm test`.
 */
configureGlobal({ seed: Number(process.env['SVC_TEST_SEED'] ?? 20_261_121) })
