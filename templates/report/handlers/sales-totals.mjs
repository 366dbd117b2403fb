// Answers on stdout. A real one would ask the shop's database.
process.stdout.write(JSON.stringify({ orders: 42, revenue: '3184.50' }))
