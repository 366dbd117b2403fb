import { expect, test } from 'vitest'
import { clientAddress, isInRanges, isIpRange } from '../../src/server/http/ip.ts'

test.each([
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['11.1.2.3', ['10.0.0.0/8'], false],
  ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
  ['::ffff:0a01:0203', ['10.0.0.0/8'], true],
  ['10.1.2.3', ['::ffff:10.0.0.0/104'], true],
  ['10.1.2.3', ['10.1.2.3'], true],
  ['10.1.2.4', ['10.1.2.3'], false],
  ['2001:db8::1', ['2001:db8::/32'], true],
  ['2001:0DB8:0:0::1', ['2001:db8::1'], true],
  ['2001:db9::1', ['2001:db8::/32'], false],
  ['10.1.2.3', ['2001:db8::/32'], false],
  ['2001:db8::1', ['10.0.0.0/8'], false],
  ['10.1.2.3', ['0.0.0.0/0'], true],
  ['::1', ['0.0.0.0/0'], false],
  ['192.168.0.9', ['10.0.0.0/8', '192.168.0.0/24'], true],
  ['010.1.2.3', ['10.0.0.0/8'], false],
  ['not an address', ['0.0.0.0/0'], false],
  ['', ['0.0.0.0/0'], false],
  // Other spellings of 10.1.2.3, which resolvers and libraries read in more than one way.
  ['0x0a010203', ['10.0.0.0/8'], false],
  ['0x0a.1.2.3', ['10.0.0.0/8'], false],
  ['012.1.2.3', ['10.0.0.0/8'], false],
  ['167838211', ['10.0.0.0/8'], false],
  ['10.66051', ['10.0.0.0/8'], false],
  ['10.1.515', ['10.0.0.0/8'], false],
  ['10.1.2.3.', ['10.0.0.0/8'], false],
  [' 10.1.2.3', ['10.0.0.0/8'], false],
  ['10.1.2.3 ', ['10.0.0.0/8'], false],
  ['10.1.2.3:80', ['10.0.0.0/8'], false],
  ['10.1.2.256', ['10.0.0.0/8'], false],
  ['１０.1.2.3', ['10.0.0.0/8'], false],
  ['10。1。2。3', ['10.0.0.0/8'], false],
  ['[::ffff:10.1.2.3]', ['10.0.0.0/8'], false],
  // IPv4 inside IPv6: the mapped form is what a socket shows, the dotted form of ::/96 is its old spelling.
  ['::FFFF:10.1.2.3', ['10.0.0.0/8'], true],
  ['0:0:0:0:0:ffff:10.1.2.3', ['10.0.0.0/8'], true],
  ['0000:0000:0000:0000:0000:ffff:0a01:0203', ['10.0.0.0/8'], true],
  ['::ffff:a01:203', ['10.0.0.0/8'], true],
  ['::ffff:10.1.2.3', ['::/0'], false],
  ['::ffff:10.1.2.3', ['::ffff:0:0/96'], true],
  ['::10.1.2.3', ['10.0.0.0/8'], true],
  ['::ffff:0:10.1.2.3', ['10.0.0.0/8'], false],
  ['64:ff9b::10.1.2.3', ['10.0.0.0/8'], false],
  ['2002:a01:203::', ['10.0.0.0/8'], false],
  // Spellings of one IPv6 address.
  ['2001:db8:0:0:0:0:0:1', ['2001:db8::1'], true],
  ['2001:DB8::0001', ['2001:db8::1/128'], true],
  ['2001:db8::0:1', ['2001:db8:0:0::/64'], true],
  ['2001:db8::1%eth0', ['2001:db8::9'], false],
  ['2001:db8::1::', ['2001:db8::/32'], false],
  ['::1', ['::1'], true],
  ['0:0:0:0:0:0:0:1', ['::1/128'], true],
  ['::1', ['127.0.0.0/8'], false],
  // Edges of ranges, and ranges that are none.
  ['10.0.0.0', ['10.0.0.0/31'], true],
  ['10.0.0.2', ['10.0.0.0/31'], false],
  ['10.1.2.3', ['10.9.9.9/8'], true],
  ['10.1.2.3', ['10.1.2.3/32'], true],
  ['10.1.2.3', ['0x0a.0.0.0/8'], false],
  ['10.1.2.3', ['10.0.0.0/-1'], false],
  ['10.1.2.3', ['10.0.0.0/8/8'], false],
  ['10.1.2.3', ['nonsense', '10.0.0.0/8'], true],
])('%s in %j is %s', (address, ranges, expected) => {
  expect(isInRanges(address, ranges)).toBe(expected)
})

test('an address that is not known is in no range', () => {
  expect(isInRanges(undefined, ['0.0.0.0/0', '::/0'])).toBe(false)
})

test.each([
  ['10.0.0.0/8', true],
  ['10.0.0.1', true],
  ['2001:db8::/32', true],
  ['10.0.0.0/33', false],
  ['10.0.0', false],
  ['example.com', false],
])('%s as a range: %s', (text, expected) => {
  expect(isIpRange(text)).toBe(expected)
})

test.each([
  ['no proxies configured', '9.9.9.9', '1.2.3.4', [], '9.9.9.9'],
  ['a peer that is no proxy', '9.9.9.9', '1.2.3.4', ['10.0.0.0/8'], '9.9.9.9'],
  ['a proxy', '10.0.0.1', '1.2.3.4', ['10.0.0.0/8'], '1.2.3.4'],
  ['what the client wrote itself', '10.0.0.1', '6.6.6.6, 1.2.3.4', ['10.0.0.0/8'], '1.2.3.4'],
  ['two proxies in a row', '10.0.0.1', '1.2.3.4, 10.0.0.2', ['10.0.0.0/8'], '1.2.3.4'],
  ['a proxy that says nothing', '10.0.0.1', null, ['10.0.0.0/8'], '10.0.0.1'],
  ['a proxy over IPv6', '::ffff:10.0.0.1', '1.2.3.4', ['10.0.0.0/8'], '1.2.3.4'],
  ['proxies only', '10.0.0.1', '10.0.0.3, 10.0.0.2', ['10.0.0.0/8'], '10.0.0.3'],
  ['a proxy that adds the port', '10.0.0.1', '9.9.9.9:80, 1.2.3.4:51234', ['10.0.0.0/8'], '1.2.3.4'],
  ['two proxies that add ports', '10.0.0.1', '1.2.3.4:51234, 10.0.0.9:443', ['10.0.0.0/8'], '1.2.3.4'],
  ['a proxy that adds the port to IPv6', '10.0.0.1', '[2001:db8::1]:51234', ['10.0.0.0/8'], '2001:db8::1'],
  ['a proxy that puts IPv6 into brackets', '10.0.0.1', '[2001:db8::1]', ['10.0.0.0/8'], '2001:db8::1'],
  ['a proxy that says nonsense', '10.0.0.1', 'unknown', ['10.0.0.0/8'], 'unknown'],
  ['a client that claims to be a proxy', '10.0.0.1', '10.0.0.9, 1.2.3.4', ['10.0.0.0/8'], '1.2.3.4'],
])('the client behind %s', (_what, peer, forwarded, proxies, expected) => {
  expect(clientAddress(peer, forwarded, proxies)).toBe(expected)
})
