import { useState } from 'react'
import { useRefund } from './use-refund.ts'

export function RefundPage() {
  const { refund, error, start, decide } = useRefund()
  const [order, setOrder] = useState('')
  const [amount, setAmount] = useState('')
  return (
    <main>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void start(order, Number(amount))
        }}
      >
        <label>
          Order <input value={order} onInput={(event) => setOrder(event.currentTarget.value)} required />
        </label>
        <label>
          Amount{' '}
          <input
            value={amount}
            onInput={(event) => setAmount(event.currentTarget.value)}
            inputMode="numeric"
            required
          />
        </label>
        <button type="submit">Ask for a refund</button>
      </form>
      {refund && <p role="status">{refund.status}</p>}
      {refund?.task && (
        <section aria-label="Decision">
          <h2>{refund.task.title}</h2>
          <dl>
            {Object.entries(refund.task.arguments).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{String(value)}</dd>
              </div>
            ))}
          </dl>
          <button onClick={() => void decide(true)}>Approve</button>
          <button onClick={() => void decide(false)}>Reject</button>
        </section>
      )}
      {refund?.output != null && <output>{JSON.stringify(refund.output)}</output>}
      {error !== undefined && <p role="alert">{error}</p>}
    </main>
  )
}
