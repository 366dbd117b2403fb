// Answers on stdout. A real one would ask the shop's database. With BOOKS=open nobody has closed the books yet.
const totals =
  process.env.BOOKS === 'open'
    ? { error: 'The books of yesterday are not closed.' }
    : { orders: 42, revenue: '3184.50' }
process.stdout.write(JSON.stringify(totals))
