import { expect, test } from 'vitest'
import { fileFailure } from '../../src/base/files/file-error.ts'

const told = (
  about: object,
  known?: Parameters<typeof fileFailure>[1],
): readonly [string, number, string] | undefined => {
  const failure = fileFailure(Object.assign(new Error('system'), about), known)
  return failure && [failure.code, failure.exit, failure.message]
}

test('a path that does not exist ends with 5, one that cannot be used with 2', () => {
  const path = '/data/report.json'
  expect([
    told({ code: 'ENOENT', syscall: 'open', path }),
    told({ code: 'EACCES', syscall: 'open', path }),
    told({ code: 'EROFS', syscall: 'mkdir', path }),
    told({ code: 'EXDEV', syscall: 'rename', path: '/tmp/draft', dest: path }),
    told({ code: 'ENOSPC', syscall: 'write' }, { path, doing: 'written' }),
    told({ code: 'ENOSPC', syscall: 'watch', path }),
  ]).toEqual([
    ['file_missing', 5, '/data/report.json cannot be opened: there is no such file or directory.'],
    ['file_unusable', 2, '/data/report.json cannot be opened: permission denied.'],
    ['file_unusable', 2, '/data/report.json cannot be made: the file system is read-only.'],
    ['file_unusable', 2, '/data/report.json cannot be changed: it is on another file system.'],
    ['file_unusable', 2, '/data/report.json cannot be written: no space is left on the device.'],
    [
      'file_unusable',
      2,
      '/data/report.json cannot be watched: the system watches as many files as it may (fs.inotify.max_user_watches, max_user_instances).',
    ],
  ])
})

test.each([
  { code: 'ENOENT', syscall: 'spawn git', path: 'git' },
  { code: 'EACCES', syscall: 'listen' },
  { code: 'ECONNRESET', syscall: 'read' },
  { code: 'ERR_INVALID_ARG_TYPE' },
  {},
])('%j is no error of a file system', (about) => {
  expect(told(about)).toBeUndefined()
})

test('a full disk is no matter of permissions, a spent limit of watches no full disk', () => {
  const fixOf = (syscall: string) =>
    fileFailure(Object.assign(new Error(), { code: 'ENOSPC', syscall, path: '/data' }))?.fix
  expect([fixOf('write'), fixOf('watch')]).toEqual([
    'Free disk space there, or choose another path.',
    'Choose another path, or change its permissions.',
  ])
})
