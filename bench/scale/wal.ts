/** What a run writes into the WAL of PostgreSQL: by table and index, and what of it are whole pages after a checkpoint. */
import pg from 'pg'

export interface WrittenPart {
  /** Table, index, or kind of record that belongs to none. */
  readonly name: string
  readonly records: number
  readonly bytes: number
  /** Bytes of it that are images of pages. */
  readonly images: number
}

/** Moments of the WAL, to be given to `writtenBetween`. */
export async function walPosition(url: string): Promise<string> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ at: string }>('select pg_current_wal_flush_lsn() as at')
    return rows[0]!.at
  })
}

/** A record that changes several pages counts for the first one that is named. Largest first. */
export async function writtenBetween(url: string, from: string, to: string): Promise<readonly WrittenPart[]> {
  return await withClient(url, async (client) => {
    await client.query('create extension if not exists pg_walinspect schema public')
    const { rows } = await client.query<{ name: string; records: string; bytes: string; images: string }>(
      `select coalesce(c.relname, w.resource_manager) || coalesce(' ' || w.kind, '') as name,
         count(*) as records, sum(w.record_length) as bytes, sum(w.fpi_length) as images
       from (
         select resource_manager, record_length, fpi_length,
           case when resource_manager in ('Heap', 'Heap2', 'Transaction') then lower(record_type) end as kind,
           substring(block_ref from 'rel \\d+/(\\d+)/')::oid as database,
           substring(block_ref from 'rel \\d+/\\d+/(\\d+)')::oid as node
         from public.pg_get_wal_records_info($1, $2)
       ) w
         left join pg_class c on pg_relation_filenode(c.oid) = w.node
           and w.database = (select oid from pg_database where datname = current_database())
       group by 1
       order by 3 desc`,
      [from, to],
    )
    return rows.map(({ name, records, bytes, images }) => ({
      name,
      records: Number(records),
      bytes: Number(bytes),
      images: Number(images),
    }))
  })
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
