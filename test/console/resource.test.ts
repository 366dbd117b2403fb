import { expect, test } from 'vitest'
import { createReader } from '../../src/console/wire/resource.ts'

test.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
  'a value that is asked for while it is read, %i steps later, is read anew',
  async (ticks) => {
    let begun = 0
    const { reload } = createReader(() => Promise.resolve(++begun))
    const first = reload()
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
    const before = begun
    expect(await reload()).toBeGreaterThan(before)
    await first
  },
)
