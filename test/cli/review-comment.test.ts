/** What pipelines tell where a change is reviewed: the comment, and the jobs that post it, against the shapes of both APIs. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { versionChange } from '../../src/authority/change.ts'
import { ciFiles, COMMENT_MARK, githubComment } from '../../src/cli/init/ci-files.ts'
import { differenceComment } from '../../src/cli/release/difference-comment.ts'
import { runPosting, serveReviewApi } from './review-api.ts'

const change = (say: string, widens = false, path: string | null = null) =>
  versionChange('authority.equal', { agent: 'acme.desk', say, widens, path })
const commentOf = (...changes: ReturnType<typeof change>[]): string =>
  differenceComment({ breaking: false, widens: false, changes })

describe('the comment', () => {
  test('has wider authority first, with the call that shows it, and then what else changed', () => {
    const changes = [change('prompt changed'), change('refunds up to 250', true, 'policies/limit.yaml:15')]
    const files = [{ path: 'policies/limit.yaml', change: 'changed', from: null, to: null }] as const
    expect(differenceComment({ breaking: true, widens: true, changes }, files)).toBe(
      [
        '<!-- svc:authority -->',
        '### What the agents may do',
        '',
        '2 changes, 1 widens authority.',
        '',
        '| | agent | change | where |',
        '| --- | --- | --- | --- |',
        '| **wider** | acme.desk | refunds up to 250 | policies/limit.yaml&#58;15 |',
        `| ${changes[0]!.severity} | acme.desk | prompt changed |  |`,
        '',
        '<details><summary>Files: 1</summary>',
        '',
        '- changed policies/limit.yaml',
        '',
        '</details>',
      ].join('\n'),
    )
    expect(commentOf()).toBe('<!-- svc:authority -->\n### What the agents may do\n\nNo change.')
  })

  test('is bounded, and nothing that a document says is more than text in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const row = commentOf(change(text)).split('\n').at(-1)!
        const [, , , said] = row.split('|')
        expect(row.split('|')).toHaveLength(6)
        expect(said!.replace(/&#\d+;/g, '')).not.toMatch(/[<>@`*_~[\]!#\\:]/)
      }),
    )
    const many = Array.from({ length: 5000 }, (_, n) => change(`change ${n} `.repeat(20)))
    expect(commentOf(...many).length).toBeLessThan(65_536)
    expect(commentOf(...many)).toMatch(/… and 4950 more$/)
  })
})

const COMMENT = `${COMMENT_MARK}\n### What the agents may do`

describe('the job on GitHub', () => {
  const jobs = (parse(githubComment(false)) as { jobs: { comment: { steps: { run?: string }[] } } }).jobs
  const script = jobs.comment.steps.find(({ run }) => run !== undefined)!.run!
  const pulls = [
    { number: 6, head: { sha: 'c0ffee' } },
    { number: 7, head: { sha: 'beef' } },
  ]
  const bot = { login: 'github-actions[bot]' }
  const run = async (comments: readonly object[], { sha = 'beef', comment = COMMENT as string | null } = {}) => {
    const { sent, url } = await serveReviewApi({ '/repos/a/b/pulls': pulls, '/repos/a/b/issues/7/comments': comments })
    const env = { GITHUB_API_URL: url, GITHUB_REPOSITORY: 'a/b', HEAD: 'ana:limit', SHA: sha, TOKEN: 't' }
    await runPosting(script, env, comment)
    return sent
  }
  const made = { method: 'POST', path: '/repos/a/b/issues/7/comments', token: 'Bearer t', body: { body: COMMENT } }

  test('posts one comment, and then writes it anew', async () => {
    expect(await run([{ id: 1, user: bot, body: 'Built.' }])).toEqual([made])
    expect(
      await run([
        { id: 1, user: bot, body: 'Built.' },
        { id: 9, user: bot, body: COMMENT },
      ]),
    ).toEqual([{ ...made, method: 'PATCH', path: '/repos/a/b/issues/comments/9' }])
  })

  test('leaves the comment of somebody else who wrote the same', async () => {
    expect(await run([{ id: 9, user: { login: 'mallory' }, body: COMMENT }])).toEqual([made])
  })

  test.each([
    ['of an older commit', { sha: 'dead' }],
    ['that compared nothing', { comment: null }],
    ['that wrote something else', { comment: 'Everything is fine.' }],
  ])('says nothing after a run %s', async (_, given) => {
    expect(await run([], given)).toEqual([])
  })
})

test('the job on GitLab posts one note, and then writes it anew', async () => {
  const { text } = ciFiles('gitlab', { policies: true, scenarios: true })[0]!
  const [script] = (parse(text) as { comment: { script: string[] } }).comment.script
  const notes = '/projects/3/merge_requests/7/notes'
  const run = async (known: readonly object[]) => {
    const { sent, url } = await serveReviewApi({ [notes]: known })
    const env = {
      CI_API_V4_URL: url,
      CI_PROJECT_ID: '3',
      CI_MERGE_REQUEST_IID: '7',
      REVIEW_TOKEN: 't',
      REVIEW_BOT: 'bot',
    }
    await runPosting(script!, env, COMMENT)
    return sent
  }
  const made = { method: 'POST', path: notes, token: 't', body: { body: COMMENT } }
  expect(await run([])).toEqual([made])
  expect(await run([{ id: 4, author: { username: 'bot' }, body: COMMENT }])).toEqual([
    { ...made, method: 'PUT', path: `${notes}/4` },
  ])
})

test('what runs code of a project may write nothing, and what may write runs none and takes each action by its commit', () => {
  const root = resolve(import.meta.dirname, '../..')
  const template = (name: string): string =>
    readFileSync(join(root, 'templates/monorepo/.github/workflows', name), 'utf8')
  expect(template('agents-comment.yml')).toBe(githubComment(true))
  const { text: agents } = ciFiles('github', { policies: true, scenarios: true })[0]!
  for (const workflow of [agents, template('agents.yml')]) {
    expect(workflow).not.toMatch(/: write$/m)
    expect((parse(workflow) as { permissions: object }).permissions).toEqual({ contents: 'read' })
  }
  for (const workflow of [githubComment(false), githubComment(true)]) expect(workflow).not.toMatch(/checkout|npm|npx/)
  const uses = [agents, template('agents.yml'), githubComment(true)].flatMap((text) => text.match(/uses: .*/g) ?? [])
  expect(uses.filter((each) => !/@[0-9a-f]{40} # v\d/.test(each))).toEqual([])
})
