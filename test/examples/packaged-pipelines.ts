/**
 * What `integrations/` packs: the jobs that `svc init --ci` writes, as actions of GitHub and a template of GitLab, so that both come from one
 * source.
 */
import { parse, stringify } from 'yaml'
import { ciFiles, githubComment } from '../../src/cli/init/ci-files.ts'

export interface ActionStep {
  readonly name?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly [more: string]: unknown
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly env?: object; readonly steps: readonly ActionStep[] }>>
}
type GitlabJob = Readonly<Record<string, unknown>> & { readonly script: readonly string[] }

const PROOFS = { policies: true, scenarios: true }
const HEADER = '# Generated from what `svc init --ci` writes: npm run generate.\n'
const print = (value: object): string =>
  stringify(value, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false })

/** Comments say by which version a pinned commit goes; the parser of YAML drops them. */
const withVersions = (text: string, source: string): string =>
  [...source.matchAll(/uses: (\S+) (# v\S+)/g)].reduce(
    (result, [, action = '', version = '']) => result.replaceAll(`uses: ${action}\n`, `uses: ${action} ${version}\n`),
    text,
  )

/** Of an action, the job has the environment. */
const forJob = (run: string): string => run.replace('give this step their keys', 'give the job their keys')

const text = (description: string, value: string): object => ({ description, default: value })

/** An action that runs code of the project, and may write nothing. */
export function checkAction(): string {
  const source = ciFiles('github', PROOFS)[0]!.text
  const { env, steps } = (parse(source) as Workflow).jobs['agents']!
  const packed = steps.flatMap((step): ActionStep[] => {
    const { run } = step
    if (run === undefined) return [step]
    const isPolicies = run.includes('svc policy test')
    const own = {
      ...step,
      run: forJob(run),
      ...(isPolicies && {
        if: "inputs.policy-tests == 'true'",
        run: run.replace('--coverage 90', '--coverage "$COVERAGE"'),
      }),
      ...(run.includes('svc test') && { if: "inputs.scenarios == 'true'" }),
      shell: 'bash',
      env: { ...env, ...(isPolicies && { COVERAGE: '${{ inputs.coverage }}' }) },
    }
    const findings = {
      name: 'Findings, for code scanning',
      if: "always() && github.event_name == 'pull_request'",
      run: 'mkdir -p review && npx --no svc lint --format sarif > review/lint.sarif',
      shell: 'bash',
    }
    return run.includes('svc fmt') ? [findings, own] : [own]
  })
  return (
    HEADER +
    withVersions(
      print({
        name: 'Check agents',
        description: 'Lints, compiles and tests agents, and says what a change lets them do. Needs no right to write.',
        inputs: {
          coverage: text('Percentage of the rules of policies that their tests have to reach', '90'),
          'policy-tests': text('Whether the project has table tests of its policies', 'true'),
          scenarios: text('Whether the project has scenarios', 'true'),
        },
        runs: { using: 'composite', steps: packed },
      }),
      source,
    )
  )
}

/** An action that may write on a pull request, and runs nothing of the project. */
export function commentAction(): string {
  const source = githubComment(true)
  const steps = (parse(source) as Workflow).jobs['comment']!.steps.map((step): ActionStep => ({
    ...step,
    ...(step.run !== undefined && { shell: 'bash' }),
    ...(step.uses?.includes('upload-sarif') === true && { if: `inputs.sarif == 'true' && ${step.if}` }),
  }))
  return (
    HEADER +
    withVersions(
      print({
        name: 'Comment on agents',
        description:
          'Tells on the pull request what the workflow with the action "check" found, in one comment. Runs nothing of the project.',
        inputs: {
          sarif: text('Whether findings go to code scanning; the job needs security-events: write', 'false'),
        },
        runs: { using: 'composite', steps },
      }),
      source,
    )
  )
}

/** Jobs to include in a pipeline of GitLab. */
export function gitlabTemplate(): string {
  const {
    image: _image,
    variables,
    stages: _stages,
    workflow,
    deploy: _deploy,
    ...jobs
  } = parse(ciFiles('gitlab', PROOFS)[0]!.text) as Record<string, GitlabJob> & {
    readonly workflow: { readonly rules: object[] }
    readonly variables: object
  }
  const packed = Object.entries(jobs).map(([name, { script, needs, variables: own, ...job }]) => [
    `agents-${name}`,
    {
      ...job,
      stage: '$[[ inputs.stage ]]',
      image: '$[[ inputs.image ]]',
      variables: own ?? variables,
      ...(job['rules'] === undefined && { rules: workflow.rules }),
      ...(Array.isArray(needs) && { needs: needs.map((each) => `agents-${each}`) }),
      script: script.map((line) => line.replace('--coverage 90', '--coverage $[[ inputs.coverage ]]')),
    },
  ])
  return `${HEADER}${print({
    spec: {
      inputs: {
        stage: { default: 'test' },
        image: { default: 'node:22' },
        coverage: { type: 'number', default: 90 },
      },
    },
  })}---\n${print(Object.fromEntries(packed) as object)}`
}
