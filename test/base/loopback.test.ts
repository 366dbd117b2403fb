import { expect, test } from 'vitest'
import { isLoopback } from '../../src/base/net/loopback.ts'

test.each([
  'localhost',
  'LOCALHOST',
  'api.localhost',
  '127.0.0.1',
  '127.1.2.3',
  '127.255.255.255',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::0001',
  '::1%lo',
  '::ffff:127.0.0.1',
  '[::FFFF:127.0.0.1]',
  '::ffff:7f00:1',
])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  '',
  '0.0.0.0',
  '::',
  '[::]',
  '10.0.0.1',
  '128.0.0.1',
  '::2',
  '::ffff:10.0.0.1',
  '64:ff9b::127.0.0.1',
  // Other spellings of 127.0.0.1, which resolvers and libraries read in more than one way.
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '0127.0.0.1',
  '127.0.0.256',
  '127.0.0.1.',
  ' 127.0.0.1',
  '127.0.0.1:80',
  '127。0。0。1',
  '[127.0.0.1]',
  '[localhost]',
  '[::1',
  '[[::1]]',
  // Names that only look like it.
  'localhost.',
  'localhost:80',
  '.localhost',
  'notlocalhost',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '127.example.com',
  'a@localhost/localhost.example',
])('"%s" is not taken for this machine', (host) => {
  expect(isLoopback(host)).toBe(false)
})
