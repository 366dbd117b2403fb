import { Readable } from 'node:stream'
import { request } from 'node:http'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
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

/** With each of the authorizations in a header of its own. */
const sendRaw = (url: string, headers: Readonly<Record<string, string>>, authorization: string[]): Promise<number> =>
  new Promise((done, failed) => {
    const others = Object.entries(headers).filter(([name]) => name !== 'authorization')
    const raw = [...others.flat(), ...authorization.flatMap((each) => ['authorization', each])]
    const sent = request(url, { headers: raw }, (response) => {
      response.resume()
      done(response.statusCode!)
    })
    sent.on('error', failed)
    sent.end()
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

const MD5_OF_HELLO = '"5d41402abc4b2a76b9719d911017c592"'

test('an object is delivered only under the conditions that it meets', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'conditional', Body: 'hello' }))
  const outcome = async (conditions: object): Promise<string> => {
    const both = [GetObjectCommand, HeadObjectCommand].map((Command) =>
      client.send(new Command({ Bucket, Key: 'conditional', ...conditions })).then(
        () => '200',
        (error: { $metadata: { httpStatusCode: number } }) => String(error.$metadata.httpStatusCode),
      ),
    )
    return [...new Set(await Promise.all(both))].join(' and ')
  }
  const [before, after] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)]
  expect({
    ours: await outcome({ IfMatch: MD5_OF_HELLO }),
    any: await outcome({ IfMatch: '*' }),
    one: await outcome({ IfMatch: `"other", ${MD5_OF_HELLO}` }),
    another: await outcome({ IfMatch: '"other"' }),
    known: await outcome({ IfNoneMatch: MD5_OF_HELLO }),
    news: await outcome({ IfNoneMatch: '"other"' }),
    changed: await outcome({ IfModifiedSince: before }),
    unchanged: await outcome({ IfModifiedSince: after }),
    changedSince: await outcome({ IfUnmodifiedSince: before }),
    tagBeforeDate: await outcome({ IfMatch: MD5_OF_HELLO, IfUnmodifiedSince: before }),
  }).toEqual({
    ours: '200',
    any: '200',
    one: '200',
    another: '412',
    known: '304',
    news: '200',
    changed: '200',
    unchanged: '304',
    changedSince: '412',
    tagBeforeDate: '200',
  })
})

test('a copy is made only of the source that is meant, and conditions that are not kept are refused', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'source', Body: 'hello' }))
  const copy = (more: object): Promise<unknown> =>
    client.send(new CopyObjectCommand({ Bucket, Key: 'copied', CopySource: '/svc/source', ...more }))
  await expect(copy({ CopySourceIfMatch: '"other"' })).rejects.toMatchObject({ name: 'PreconditionFailed' })
  await expect(copy({ CopySourceIfNoneMatch: MD5_OF_HELLO })).rejects.toMatchObject({ name: 'PreconditionFailed' })
  await expect(read('copied')).rejects.toMatchObject({ name: 'NoSuchKey' })
  await copy({ CopySourceIfMatch: MD5_OF_HELLO })
  const remove = new DeleteObjectCommand({ Bucket, Key: 'copied', IfMatch: '"other"' })
  await expect(client.send(remove)).rejects.toMatchObject({ name: 'NotImplemented' })
  expect(await read('copied')).toBe('hello')
})

test('lists its one bucket and says where it is', async () => {
  const { Buckets } = await client.send(new ListBucketsCommand({}))
  expect(Buckets?.map(({ Name }) => Name)).toEqual(['svc'])
  expect((await client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint).toBeUndefined()
})

test('refuses another region, in a header and in an address', async () => {
  const { endpoint, credentials } = opened.storage
  const astray = new S3Client({ endpoint, region: 'eu-west-1', credentials, forcePathStyle: true, maxAttempts: 1 })
  const get = new GetObjectCommand({ Bucket, Key: 'digits' })
  await expect(astray.send(get)).rejects.toMatchObject({ name: 'AuthorizationHeaderMalformed' })
  const response = await fetch(await getSignedUrl(astray, get, { expiresIn: 60 }))
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringMatching(/<Code>AuthorizationHeaderMalformed<\/Code>.*<Region>us-east-1<\/Region>/),
  ])
  astray.destroy()
})

test('refuses a request that is signed twice, even where one of the two is good', async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: 'digits', Body: '0123456789' }))
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'digits' }), { expiresIn: 60 })
  const codeOf = async (headers: HeadersInit): Promise<string | undefined> =>
    /<Code>(\w+)</.exec(await (await fetch(url, { headers })).text())?.[1]
  const bogus = 'AWS4-HMAC-SHA256 Credential=x/20261120/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00'
  expect(await codeOf({})).toBeUndefined()
  expect(await codeOf({ authorization: bogus })).toBe('InvalidArgument')
  expect(await codeOf({ authorization: 'Bearer x' })).toBe('InvalidArgument')
  let signed: Record<string, string> = {}
  const observed = new S3Client({ ...opened.storage, forcePathStyle: true, maxAttempts: 1 })
  observed.middlewareStack.add(
    (next) => (args) => {
      signed = { ...(args.request as { headers: Record<string, string> }).headers }
      return next(args)
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
  await observed.send(new GetObjectCommand({ Bucket, Key: 'digits' }))
  observed.destroy()
  const plain = `${opened.storage.endpoint}/svc/digits?x-id=GetObject`
  const sentWith = async (authorization: string[], more = ''): Promise<number> =>
    await sendRaw(`${plain}${more}`, signed, authorization)
  expect(await sentWith([signed['authorization']!])).toBe(200)
  expect(await sentWith([signed['authorization']!, bogus])).toBe(400)
  expect(await sentWith([bogus, signed['authorization']!])).toBe(400)
  expect(await sentWith([signed['authorization']!], '&X-Amz-Signature=00')).toBe(400)
})

test('says what a signature in a header lacks', async () => {
  const told = async (headers: HeadersInit): Promise<string | undefined> =>
    /<Code>.*<\/Message>/.exec(await (await fetch(`${opened.storage.endpoint}/svc/digits`, { headers })).text())?.[0]
  const unreadable =
    '<Code>AuthorizationHeaderMalformed</Code><Message>The signature in the header cannot be read.</Message>'
  expect(await told({ authorization: 'Bearer x' })).toBe(unreadable)
  const credential = `${opened.storage.credentials.accessKeyId}/20261120/us-east-1/s3/aws4_request`
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`
  expect(await told({ authorization, 'x-amz-date': '20261120T104200Z' })).toBe(
    '<Code>InvalidRequest</Code><Message>A request signed in its header needs the header x-amz-content-sha256.</Message>',
  )
})

test('refuses what it does not know rather than overlooking it', async () => {
  const tag = new PutObjectTaggingCommand({ Bucket, Key: 'digits', Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } })
  await expect(client.send(tag)).rejects.toMatchObject({ name: 'NotImplemented' })
  const once = new PutObjectCommand({ Bucket, Key: 'digits', Body: 'x', IfNoneMatch: '*' })
  await expect(client.send(once)).rejects.toMatchObject({ name: 'NotImplemented' })
  const inParts = new CreateMultipartUploadCommand({ Bucket, Key: 'digits' })
  await expect(client.send(inParts)).rejects.toMatchObject({ name: 'NotImplemented' })
  await expect(client.send(new ListObjectsCommand({ Bucket }))).rejects.toMatchObject({ name: 'NotImplemented' })
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
