/** Pipelines that `svc init --ci` writes. Source: docs/design/command-line.md#tests */
import { packageSpecifier } from '../shell/version.ts'

/** Of this package. The name of the command alone is another project's package, so `npx` may download nothing. */
export const PACKAGE_NAME = '@svc-agents/cli'

/** By which a pipeline finds the comment that it writes anew. */
export const COMMENT_MARK = '<!-- svc:authority -->'

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
  const pipelines =
    pipeline === 'github'
      ? [
          { path: '.github/workflows/agents.yml', text: github(proofs) },
          { path: '.github/workflows/agents-comment.yml', text: githubComment(false) },
        ]
      : [{ path: '.gitlab-ci.yml', text: gitlab(proofs) }]
  return [
    ...pipelines,
    {
      path: 'package.json',
      text: `${JSON.stringify({ private: true, devDependencies: { [PACKAGE_NAME]: packageSpecifier } }, null, 2)}\n`,
    },
  ]
}

/** Actions by commit: a tag can be moved. */
const ACTIONS = {
  checkout: 'actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2',
  node: 'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0',
  upload: 'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2',
  sarif: 'github/codeql-action/upload-sarif@ff0a06e83cb2de871e5a09832bc6a81e7276941f # v3.28.18',
  download: 'actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0',
}

const lines = (...parts: readonly (string | false)[]): string =>
  `${parts.filter((part) => part !== false).join('\n')}\n`

/** Adds to the comment what the evals of the project say, beside the version that the change is made from. */
const evalsOf = (before: string): readonly string[] => [
  '# Evals ask the models of the agents: give this step their keys.',
  'for set in evals/*.jsonl; do',
  '  [ -e "$set" ] || continue',
  `  npx --no svc eval "$set" --against "${before}" --fail-on nothing --format markdown >> review/comment.md`,
  'done',
]

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
    `      - uses: ${ACTIONS.checkout}`,
    '        with:',
    '          fetch-depth: 0',
    `      - uses: ${ACTIONS.node}`,
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
    '          mkdir -p review',
    '          npx --no svc bundle diff before.tgz . --format markdown > review/comment.md',
    ...evalsOf('origin/$BASE').map((line) => `          ${line}`),
    '          npx --no svc bundle diff before.tgz . --fail-on breaking',
    '      # For agents-comment.yml, which may write and runs nothing of the project.',
    `      - uses: ${ACTIONS.upload}`,
    "        if: always() && github.event_name == 'pull_request'",
    '        with:',
    '          name: review',
    '          path: review',
    '          if-no-files-found: ignore',
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
    `      - uses: ${ACTIONS.checkout}`,
    `      - uses: ${ACTIONS.node}`,
    '        with:',
    '          node-version: 22',
    '          cache: npm',
    '      - run: npm ci --ignore-scripts',
    '      - run: npx --no svc publish --deploy --allow-widen',
    "        if: env.SVC_HOST != ''",
  )

/** Posts `review/comment.md`, or puts it in the place of the comment that it posted before. */
const POST_COMMENT = (indent: string, own: readonly string[]): readonly string[] =>
  [
    "import { existsSync, readFileSync } from 'node:fs'",
    'const env = process.env',
    "const file = 'review/comment.md'",
    "const text = existsSync(file) ? readFileSync(file, 'utf8').slice(0, 60000) : ''",
    `const mark = '${COMMENT_MARK}'`,
    'async function ask(method, url, body) {',
    '  const response = await fetch(url, {',
    '    method,',
    "    headers: { ...HEADERS, 'content-type': 'application/json' },",
    '    ...(body && { body: JSON.stringify({ body }) }),',
    '  })',
    '  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)',
    '  return response.json()',
    '}',
    'async function find(url, isIt) {',
    '  for (let page = 1; page <= 20; page++) {',
    "    const items = await ask('GET', `${url}?per_page=100&page=${page}`)",
    '    const found = items.find(isIt)',
    '    if (found || items.length < 100) return found',
    '  }',
    '}',
    ...own,
  ].map((line) => `${indent}${line}`)

/** @param withFindings also sends the findings of lint to GitHub's code scanning */
export const githubComment = (withFindings: boolean): string =>
  lines(
    '# Tells on the pull request what the workflow `agents` found. Only this one may write there, and it runs nothing of the project: what',
    '# a fork sends reaches it as text.',
    'name: agents comment',
    '',
    'on:',
    '  workflow_run:',
    '    workflows: [agents]',
    '    types: [completed]',
    '',
    'permissions:',
    '  actions: read',
    '  pull-requests: write',
    withFindings && '  security-events: write',
    '',
    'jobs:',
    '  comment:',
    ...(withFindings ? [] : ["    if: github.event.workflow_run.event == 'pull_request'"]),
    '    runs-on: ubuntu-latest',
    '    steps:',
    `      - uses: ${ACTIONS.download}`,
    '        # There is none where the documents could not be compared.',
    '        continue-on-error: true',
    '        with:',
    '          name: review',
    '          path: review',
    '          run-id: ${{ github.event.workflow_run.id }}',
    '          github-token: ${{ github.token }}',
    ...(withFindings
      ? [
          `      - uses: ${ACTIONS.sarif}`,
          "        if: github.event.workflow_run.head_repository.full_name == github.repository && hashFiles('review/lint.sarif') != ''",
          '        with:',
          '          sarif_file: review/lint.sarif',
          '          sha: ${{ github.event.workflow_run.head_sha }}',
          '          ref: refs/heads/${{ github.event.workflow_run.head_branch }}',
        ]
      : []),
    '      - name: One comment, which each run updates',
    '        env:',
    '          TOKEN: ${{ github.token }}',
    '          HEAD: ${{ github.event.workflow_run.head_repository.owner.login }}:${{ github.event.workflow_run.head_branch }}',
    '          SHA: ${{ github.event.workflow_run.head_sha }}',
    '        run: |',
    "          node --input-type=module <<'EOF'",
    ...POST_COMMENT('          ', [
      "const HEADERS = { authorization: `Bearer ${env.TOKEN}`, accept: 'application/vnd.github+json' }",
      'const api = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`',
      "const open = await ask('GET', `${api}/pulls?state=open&head=${encodeURIComponent(env.HEAD)}`)",
      '// A run of an older commit says nothing any more.',
      'const pull = open.find(({ head }) => head.sha === env.SHA)',
      'if (pull && text.startsWith(mark)) {',
      '  const comments = `${api}/issues/${pull.number}/comments`',
      "  const mine = await find(comments, ({ user, body }) => user.login === 'github-actions[bot]' && body.startsWith(mark))",
      "  if (mine) await ask('PATCH', `${api}/issues/comments/${mine.id}`, text)",
      "  else await ask('POST', comments, text)",
      '}',
    ]),
    '          EOF',
  )

const gitlab = ({ policies, scenarios }: PipelineTests): string =>
  lines(
    '# Proves the agents of this project. Nothing here asks: what a person would be asked fails instead.',
    'image: node:22',
    '',
    'variables:',
    '  GIT_DEPTH: 0',
    '',
    'stages: [documents, comment, scenarios, deploy]',
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
    '    - mkdir -p review',
    '    - npx --no svc bundle diff before.tgz . --format markdown > review/comment.md',
    '    - |',
    ...evalsOf('$CI_MERGE_REQUEST_DIFF_BASE_SHA').map((line) => `      ${line}`),
    '    - npx --no svc bundle diff before.tgz . --fail-on breaking',
    '  artifacts:',
    '    when: always',
    '    paths: [review]',
    '',
    '# One comment, which each pipeline updates. Needs the protected variable REVIEW_TOKEN of a bot with the scope api, whose name is',
    '# REVIEW_BOT; runs nothing of the project.',
    'comment:',
    '  stage: comment',
    '  rules:',
    "    - if: $CI_PIPELINE_SOURCE == 'merge_request_event' && $REVIEW_TOKEN",
    '      when: always',
    '  needs: [authority]',
    '  variables:',
    '    GIT_STRATEGY: none',
    '  script:',
    '    - |',
    "      node --input-type=module <<'EOF'",
    ...POST_COMMENT('      ', [
      "const HEADERS = { 'private-token': env.REVIEW_TOKEN }",
      'const notes = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`',
      'if (text.startsWith(mark)) {',
      '  const mine = await find(notes, ({ author, body }) => author.username === env.REVIEW_BOT && body.startsWith(mark))',
      "  if (mine) await ask('PUT', `${notes}/${mine.id}`, text)",
      "  else await ask('POST', notes, text)",
      '}',
    ]),
    '      EOF',
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
