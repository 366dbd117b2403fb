import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
  type ListObjectsCommandOutput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStorage, type Opened } from './storage.ts'

// The client of Amazon with its own defaults is the referee of our storage.
let opened: Opened
let client: S3Client
const Bucket = 'svc'

beforeAll(async () => {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true'
  opened = await openStorage()
  const { endpoint, region, credentials } = opened.storage
  client = new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 })
})
afterAll(async () => {
  client.destroy()
  await opened.close()
})

const read = async (Key: string, more: object = {}): Promise<string> =>
  (await client.send(new GetObjectCommand({ Bucket, Key, ...more }))).Body!.transformToString()

test('the bucket is there, another is not', async () => {
  await client.send(new HeadBucketCommand({ Bucket }))
  await client.send(new CreateBucketCommand({ Bucket }))
  await expect(client.send(new HeadBucketCommand({ Bucket: 'other' }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 404 },
  })
  await expect(client.send(new GetObjectCommand({ Bucket: 'other', Key: 'a' }))).rejects.toMatchObject({
    name: 'NoSuchBucket',
  })
})

test('puts and gets an object with its media type and metadata', async () => {
  const put = await client.send(
    new PutObjectCommand({
      Bucket,
      Key: 'a/b.txt',
      Body: 'hello',
      ContentType: 'text/plain',
      Metadata: { author: 'ana' },
    }),
  )
  expect(put.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"')
  const got = await client.send(new GetObjectCommand({ Bucket, Key: 'a/b.txt' }))
  expect(await got.Body!.transformToString()).toBe('hello')
  expect(got).toMatchObject({
    ContentType: 'text/plain',
    ContentLength: 5,
    ETag: put.ETag,
    Metadata: { author: 'ana' },
    AcceptRanges: 'bytes',
    ContentDisposition: 'attachment',
  })
  expect(Math.abs(got.LastModified!.getTime() - Date.now())).toBeLessThan(60_000)
  const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'a/b.txt' }))
  expect(head).toMatchObject({
    ContentType: 'text/plain',
    ContentLength: 5,
    ETag: put.ETag,
    Metadata: { author: 'ana' },
  })
})

test.each([
  ['CRC32', 'CRC32'],
  ['SHA1', 'SHA1'],
  ['SHA256', 'SHA256'],
] as const)('takes a body with the checksum %s', async (_, ChecksumAlgorithm) => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'checked', Body: 'hello', ChecksumAlgorithm }))
  expect(await read('checked')).toBe('hello')
})

test('takes a stream in chunks, with its checksum at the end', async () => {
  const Body = Readable.from([Buffer.from('hello '), Buffer.alloc(100_000, 'x'), Buffer.from(' world')])
  await client.send(new PutObjectCommand({ Bucket, Key: 'streamed', Body, ContentLength: 100_012 }))
  expect(await read('streamed')).toBe(`hello ${'x'.repeat(100_000)} world`)
})

test('refuses bytes that are not those of the checksum', async () => {
  const wrong = new PutObjectCommand({ Bucket, Key: 'wrong', Body: 'hello', ChecksumCRC32: 'AAAAAA==' })
  await expect(client.send(wrong)).rejects.toMatchObject({ name: 'BadDigest' })
  const md5 = new PutObjectCommand({ Bucket, Key: 'wrong', Body: 'hello', ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })
  await expect(client.send(md5)).rejects.toMatchObject({ name: 'BadDigest' })
  await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'wrong' }))).rejects.toMatchObject({ name: 'NotFound' })
})

test.each([
  ['bytes=0-3', '0123'],
  ['bytes=7-', '789'],
  ['bytes=-2', '89'],
  ['bytes=5-999', '56789'],
  ['bytes=0-0,2-3', '0123456789'],
])('reads the range %s', async (Range, text) => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'digits', Body: '0123456789' }))
  expect(await read('digits', { Range })).toBe(text)
})

test('refuses a range beyond the end, and an absent key', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'digits', Body: '0123456789' }))
  await expect(read('digits', { Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' })
  await expect(read('nowhere')).rejects.toMatchObject({ name: 'NoSuchKey' })
  await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'nowhere' }))).rejects.toMatchObject({
    name: 'NotFound',
  })
})

test('copies with what describes the object, or with something new', async () => {
  await client.send(
    new PutObjectCommand({ Bucket, Key: 'from ü+', Body: 'x', ContentType: 'text/a', Metadata: { a: '1' } }),
  )
  const CopySource = `/svc/${encodeURIComponent('from ü+')}`
  const copied = await client.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource }))
  expect(copied.CopyObjectResult?.ETag).toBe('"9dd4e461268c8034f5c8564e155c67a6"')
  expect(await client.send(new HeadObjectCommand({ Bucket, Key: 'to' }))).toMatchObject({
    ContentType: 'text/a',
    Metadata: { a: '1' },
  })
  await client.send(
    new CopyObjectCommand({ Bucket, Key: 'to', CopySource, MetadataDirective: 'REPLACE', ContentType: 'text/b' }),
  )
  expect(await client.send(new HeadObjectCommand({ Bucket, Key: 'to' }))).toMatchObject({
    ContentType: 'text/b',
    Metadata: {},
  })
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'from ü+' }))
  expect(await read('to')).toBe('x')
  await expect(client.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource }))).rejects.toMatchObject({
    name: 'NoSuchKey',
  })
})

test('lists keys in order, by page, by prefix and by folder', async () => {
  const keys = ['list/a', 'list/b/1', 'list/b/2', 'list/c<&>"', 'list/d/1', 'list/é']
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
  const all = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'list/' }))
  expect(all.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual(keys.map((key) => [key, Buffer.byteLength(key)]))
  expect(all).toMatchObject({ KeyCount: 6, IsTruncated: false, Name: 'svc', Prefix: 'list/' })

  const seen: string[] = []
  let token: string | undefined
  let pages = 0
  do {
    const page: ListObjectsV2CommandOutput = await client.send(
      new ListObjectsV2Command({
        Bucket,
        Prefix: 'list/',
        Delimiter: '/',
        MaxKeys: 2,
        ...(token && { ContinuationToken: token }),
      }),
    )
    seen.push(
      ...(page.Contents ?? []).map(({ Key }) => Key!),
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
    )
    token = page.NextContinuationToken
    pages++
  } while (token)
  expect([seen, pages]).toEqual([['list/a', 'list/b/', 'list/c<&>"', 'list/d/', 'list/é'], 3])

  const after = await client.send(
    new ListObjectsV2Command({ Bucket, Prefix: 'list/', StartAfter: 'list/d/1', EncodingType: 'url' }),
  )
  expect(after.Contents?.map(({ Key }) => decodeURIComponent(Key!))).toEqual(['list/é'])
  const none = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'nothing/' }))
  expect([none.Contents, none.KeyCount]).toEqual([undefined, 0])
})

test('a presigned GET reads, with the defaults of the client', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'signed get', Body: 'hello' }))
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'signed get' }), { expiresIn: 60 })
  expect(await (await fetch(url)).text()).toBe('hello')
})

test('deletes, also what is not there', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'gone', Body: 'x' }))
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }))
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }))
  await expect(read('gone')).rejects.toMatchObject({ name: 'NoSuchKey' })
})

test('refuses what it does not know rather than overlooking it', async () => {
  const tag = new PutObjectTaggingCommand({ Bucket, Key: 'digits', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } })
  await expect(client.send(tag)).rejects.toMatchObject({ name: 'NotImplemented' })
  const once = new PutObjectCommand({ Bucket, Key: 'digits', Body: 'x', IfNoneMatch: '*' })
  await expect(client.send(once)).rejects.toMatchObject({ name: 'NotImplemented' })
})

test('refuses another secret', async () => {
  const { endpoint, region, credentials } = opened.storage
  const stranger = new S3Client({
    endpoint,
    region,
    credentials: { ...credentials, secretAccessKey: 'guess' },
    forcePathStyle: true,
    maxAttempts: 1,
  })
  const put = new PutObjectCommand({ Bucket, Key: 'digits', Body: 'forged' })
  await expect(stranger.send(put)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' })
  stranger.destroy()
})

test('the first way of listing gives the same keys, page by page', async () => {
  const names = ['a', 'b é', 'c&d', 'e', 'folder/1', 'folder/2', 'z']
  for (const name of names) await client.send(new PutObjectCommand({ Bucket, Key: `older/${name}`, Body: 'x' }))
  const seen: string[] = []
  let Marker: string | undefined
  do {
    const page: ListObjectsCommandOutput = await client.send(
      new ListObjectsCommand({ Bucket, Prefix: 'older/', Delimiter: '/', MaxKeys: 2, ...(Marker && { Marker }) }),
    )
    seen.push(
      ...(page.Contents ?? []).map(({ Key }) => Key!),
      ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix!),
    )
    Marker = page.IsTruncated ? page.NextMarker : undefined
  } while (Marker)
  expect(seen.toSorted()).toEqual(['a', 'b é', 'c&d', 'e', 'folder/', 'z'].map((name) => `older/${name}`))
})

test.each([
  ['GIF89a/*<script>alert(1)</script>*/=1', 'image/gif'],
  ['%PDF-1.7\n<html><script>alert(1)</script>', 'application/pdf'],
  ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'image/svg+xml'],
  ['<script>alert(1)</script>', 'text/html'],
  ['', 'text/plain'],
])('bytes that could be two things (%s) go out as a download of the type they came with', async (Body, ContentType) => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'polyglot', Body: Buffer.from(Body), ContentType }))
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'polyglot' }), { expiresIn: 60 })
  const response = await fetch(url)
  expect(await response.text()).toBe(Body)
  expect(
    ['content-type', 'content-disposition', 'x-content-type-options'].map((name) => response.headers.get(name)),
  ).toEqual([ContentType, 'attachment', 'nosniff'])
})
