/** Pipelines that `svc init --ci` writes. Source: docs/design/command-line.md#tests */
import { packageSpecifier } from '../shell/version.ts'

/** Of this package. The name of the command alone is another project's package, so `npx` may download nothing. */
export const PACKAGE_NAME = '@svc-agents/cli'

export type PipelineHost = 'github' | 'gitlab'

export interface PipelineTests {
  /** The project has table tests of its policies. */
  readonly policies: boolean
  /** The project has scenarios. */
  readonly scenarios: boolean
}

/** The pipeline, and the `package.json` for `npm ci` that pins the version of svc. */
export function ciFiles(
  pipeline: PipelineHost,
  proofs: PipelineTests,
): readonly { readonly path: string; readonly text: string }[] {
  const text = pipeline === 'github' ? github(proofs) : gitlab(proofs)
  return [
    { path: pipeline === 'github' ? '.github/workflows/agents.yml' : '.gitlab-ci.yml', text },
    {
      path: 'package.json',
      text: `${JSON.stringify({ private: true, devDependencies: { [PACKAGE_NAME]: packageSpecifier } }, null, 2)}\n`,
    },
  ]
}

const lines = (...parts: readonly (string | false)[]): string =>
  `${parts.filter((part) => part !== false).join('\n')}\n`

const github = ({ policies, scenarios }: PipelineTests): string =>
  lines(
    '# Proves the agents of this project. Nothing here asks: what a person would be asked fails instead.',
    'name: agents',
    '',
    'on:',
    '  pull_request:',
    '  push:',
    '    branches: [main]',
    '',
    'permissions:',
    '  contents: read',
    '',
    'jobs:',
    '  agents:',
    '    runs-on: ubuntu-latest',
    '    env:',
    '      BASE: ${{ github.base_ref }}',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '        with:',
    '          fetch-depth: 0',
    '      - uses: actions/setup-node@v4',
    '        with:',
    '          node-version: 22',
    '          cache: npm',
    '      - run: npm ci --ignore-scripts',
    '      - run: npx --no svc lint --max-warnings 0',
    "        if: github.event_name != 'pull_request'",
    '      - run: npx --no svc lint --changed "origin/$BASE" --max-warnings 0',
    "        if: github.event_name == 'pull_request'",
    '      - run: npx --no svc fmt --check && npx --no svc compile --check',
    policies && '      - run: npx --no svc policy test --coverage 90 --format junit > policy.xml',
    '      - name: What the agents may do that they could not before',
    "        if: github.event_name == 'pull_request'",
    '        run: |',
    '          git worktree add --detach ../base "origin/$BASE"',
    '          npx --no svc bundle pack -C ../base -o "$PWD/before.tgz"',
    '          npx --no svc bundle diff before.tgz . --fail-on breaking',
    scenarios && '      - run: npx --no svc test --format junit > scenarios.xml',
    '',
    '  # After review. Needs the secret DEPLOY_HOST, such as ssh://deploy@agents.example.',
    '  deploy:',
    '    needs: agents',
    "    if: github.ref == 'refs/heads/main'",
    '    runs-on: ubuntu-latest',
    '    env:',
    '      SVC_HOST: ${{ secrets.DEPLOY_HOST }}',
    '    steps:',
    '      - uses: actions/checkout@v4',
    '      - uses: actions/setup-node@v4',
    '        with:',
    '          node-version: 22',
    '          cache: npm',
    '      - run: npm ci --ignore-scripts',
    '      - run: npx --no svc publish --deploy --allow-widen',
    "        if: env.SVC_HOST != ''",
  )

const gitlab = ({ policies, scenarios }: PipelineTests): string =>
  lines(
    '# Proves the agents of this project. Nothing here asks: what a person would be asked fails instead.',
    'image: node:22',
    '',
    'variables:',
    '  GIT_DEPTH: 0',
    '',
    'stages: [documents, scenarios, deploy]',
    '',
    'workflow:',
    '  rules:',
    "    - if: $CI_PIPELINE_SOURCE == 'merge_request_event'",
    '    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH',
    '',
    'documents:',
    '  stage: documents',
    '  script:',
    '    - npm ci --ignore-scripts',
    '    - npx --no svc lint --max-warnings 0 --format gitlab > gl-code-quality-report.json',
    '    - npx --no svc fmt --check && npx --no svc compile --check',
    policies && '    - npx --no svc policy test --coverage 90 --format junit > policy.xml',
    '  artifacts:',
    '    when: always',
    '    reports:',
    '      codequality: gl-code-quality-report.json',
    policies && '      junit: policy.xml',
    '',
    '# What the agents may do that they could not before.',
    'authority:',
    '  stage: documents',
    '  rules:',
    "    - if: $CI_PIPELINE_SOURCE == 'merge_request_event'",
    '  script:',
    '    - npm ci --ignore-scripts',
    '    - git worktree add --detach ../base "$CI_MERGE_REQUEST_DIFF_BASE_SHA"',
    '    - npx --no svc bundle pack -C ../base -o "$PWD/before.tgz"',
    '    - npx --no svc bundle diff before.tgz . --fail-on breaking',
    ...(scenarios
      ? [
          '',
          'scenarios:',
          '  stage: scenarios',
          '  script:',
          '    - npm ci --ignore-scripts',
          '    - npx --no svc test --format junit > scenarios.xml',
          '  artifacts:',
          '    when: always',
          '    reports:',
          '      junit: scenarios.xml',
        ]
      : []),
    '',
    '# After review. Needs the variable SVC_HOST, such as ssh://deploy@agents.example.',
    'deploy:',
    '  stage: deploy',
    '  rules:',
    '    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $SVC_HOST',
    '  script:',
    '    - npm ci --ignore-scripts',
    '    - npx --no svc publish --deploy --allow-widen',
  )
