create table customers (id integer primary key, name text not null, email text not null, region text not null);
create table orders (id integer primary key, customer integer not null references customers (id), day text not null, region text not null, amount real not null);

insert into customers values
  (1, 'Ada Lind', 'ada@example.com', 'North'), (2, 'Bo Marsh', 'bo@example.com', 'North'),
  (3, 'Cem Ünal', 'cem@example.com', 'South'), (4, 'Dee Okoro', 'dee@example.com', 'West');

insert into orders values
  (101, 1, '2026-09-02', 'North', 480), (102, 2, '2026-09-04', 'North', 1250.5), (103, 3, '2026-09-05', 'South', 310),
  (104, 4, '2026-09-11', 'West', 90), (105, 1, '2026-09-19', 'North', 75), (106, 3, '2026-10-01', 'South', 640),
  (107, 4, '2026-10-07', 'West', 1120), (108, 2, '2026-10-09', 'North', 220), (109, 3, '2026-10-23', 'South', 18.5);
