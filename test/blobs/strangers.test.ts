/**
 * Clients that nobody here wrote, where they are installed: what they make of our storage is what any S3 client would.
 * Where one is absent its test is skipped and says so.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStorage, type Opened } from './storage.ts'
import { removeDirectory } from '../remove-directory.ts'

const run = promisify(execFile)
let opened: Opened
let directory: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  opened = await openStorage()
  directory = mkdtempSync(join(tmpdir(), 'svc-strangers-'))
  const { credentials, region } = opened.storage
  env = {
    PATH: process.env['PATH'],
    HOME: directory,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_DEFAULT_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
    ENDPOINT: opened.storage.endpoint,
  }
})
afterAll(async () => {
  await opened.close()
  removeDirectory(directory)
})

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0
const present: Readonly<Record<string, boolean>> = {
  aws: has('aws', '--version'),
  boto3: has('python3', '-c', 'import boto3'),
  s3cmd: has('s3cmd', '--version'),
}

test('the AWS command line puts, gets, copies, lists and deletes', async ({ skip }) => {
  skip(!present['aws'], 'aws is not installed here')
  const local = join(directory, 'aws.txt')
  await writeFile(local, 'hello')
  const api = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await run('aws', ['s3api', ...args, '--endpoint-url', opened.storage.endpoint], { env })
    return stdout.trim() === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>)
  }
  const bucket = ['--bucket', opened.storage.bucket]
  const put = await api(
    'put-object',
    ...bucket,
    '--key',
    'aws/a b+é.txt',
    '--body',
    local,
    '--content-type',
    'text/plain',
  )
  expect(put['ETag']).toBe('"5d41402abc4b2a76b9719d911017c592"')
  const head = await api('head-object', ...bucket, '--key', 'aws/a b+é.txt')
  expect([head['ContentLength'], head['ContentType']]).toEqual([5, 'text/plain'])
  const part = join(directory, 'part')
  const got = await api('get-object', ...bucket, '--key', 'aws/a b+é.txt', '--range', 'bytes=1-3', part)
  expect([await readFile(part, 'utf8'), got['ContentRange']]).toEqual(['ell', 'bytes 1-3/5'])
  await api('copy-object', ...bucket, '--key', 'aws/copy', '--copy-source', `${opened.storage.bucket}/aws/a b+é.txt`)
  const keysOf = async () =>
    (((await api('list-objects-v2', ...bucket, '--prefix', 'aws/'))['Contents'] ?? []) as { Key: string }[]).map(
      ({ Key }) => Key,
    )
  expect(await keysOf()).toEqual(['aws/a b+é.txt', 'aws/copy'])
  await api('delete-object', ...bucket, '--key', 'aws/copy')
  await api('delete-object', ...bucket, '--key', 'aws/a b+é.txt')
  expect(await keysOf()).toEqual([])
})

const SCRIPT = `
import boto3, botocore, json, os, urllib.request
# Without a choice boto3 presigns with the signature before version 4, which is refused.
s3 = boto3.client('s3', endpoint_url=os.environ['ENDPOINT'], config=botocore.config.Config(signature_version='s3v4'))
told = []
told.append(s3.put_object(Bucket='svc', Key='boto/a b+é.txt', Body=b'hello', ContentType='text/plain')['ETag'])
head = s3.head_object(Bucket='svc', Key='boto/a b+é.txt')
told.append([head['ContentLength'], head['ContentType']])
told.append(s3.get_object(Bucket='svc', Key='boto/a b+é.txt', Range='bytes=1-3')['Body'].read().decode())
s3.copy_object(Bucket='svc', Key='boto/copy', CopySource={'Bucket': 'svc', 'Key': 'boto/a b+é.txt'})
keys = lambda: [each['Key'] for each in s3.list_objects_v2(Bucket='svc', Prefix='boto/').get('Contents', [])]
told.append(keys())
url = s3.generate_presigned_url('get_object', Params={'Bucket': 'svc', 'Key': 'boto/copy'}, ExpiresIn=60)
told.append(urllib.request.urlopen(url).read().decode())
for key in keys(): s3.delete_object(Bucket='svc', Key=key)
told.append(keys())
print(json.dumps(told))
`

test('boto3 puts, gets, copies, lists, presigns and deletes', async ({ skip }) => {
  skip(!present['boto3'], 'boto3 is not installed here')
  const { stdout } = await run('python3', ['-c', SCRIPT], { env })
  expect(JSON.parse(stdout)).toEqual([
    '"5d41402abc4b2a76b9719d911017c592"',
    [5, 'text/plain'],
    'ell',
    ['boto/a b+é.txt', 'boto/copy'],
    'hello',
    [],
  ])
})

test('s3cmd puts, gets, copies, lists and deletes', async ({ skip }) => {
  skip(!present['s3cmd'], 's3cmd is not installed here')
  const local = join(directory, 's3cmd.txt')
  await writeFile(local, 'hello')
  const { endpoint, region, bucket, credentials } = opened.storage
  const { host } = new URL(endpoint)
  const common = [
    '--no-ssl',
    `--host=${host}`,
    `--host-bucket=${host}`,
    `--region=${region}`,
    `--access_key=${credentials.accessKeyId}`,
    `--secret_key=${credentials.secretAccessKey}`,
    '--no-progress',
  ]
  const call = async (...args: string[]) => (await run('s3cmd', [...common, ...args], { env })).stdout
  const object = `s3://${bucket}/s3cmd/a b.txt`
  await call('put', local, object)
  const part = join(directory, 's3cmd-part')
  await writeFile(part, 'he')
  await call('get', '--continue', object, part)
  expect(await readFile(part, 'utf8')).toBe('hello')
  await call('cp', object, `s3://${bucket}/s3cmd/copy`)
  const list = async () =>
    [...(await call('ls', `s3://${bucket}/s3cmd/`)).matchAll(/s3:\/\/(.*)$/gm)].map(([, key]) => key)
  expect(await list()).toEqual([`${bucket}/s3cmd/a b.txt`, `${bucket}/s3cmd/copy`])
  await call('del', object)
  await call('del', `s3://${bucket}/s3cmd/copy`)
  expect(await list()).toEqual([])
})
