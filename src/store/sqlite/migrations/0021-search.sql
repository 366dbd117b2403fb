-- The searchable text of runs: input, output and error, and nothing of erased runs. Escaped line ends and tabs of JSON texts
-- become spaces, because the index would read them as letters. Only the beginning is searched, so that no run fills the index.
create view run_text (n, session_n, input, output) as
select r.n, r.session_n,
  replace(replace(substr(case when r.id = s.root_run_id then s.input else r.input end, 1, 20000), '\n', ' '), '\t', ' '),
  case when r.finished_at is null then '' else
    replace(replace(substr(coalesce(r.output, ''), 1, 20000), '\n', ' '), '\t', ' ') || ' ' || coalesce(r.error, '') || ' '
      || coalesce(r.error_code, '') end
from run r join session s on s.n = r.session_n
where s.erased_at is null;

-- A run's input is written when it starts, its output when it ends: each once. Sizes of texts would only serve a ranking.
create virtual table run_input using fts5 (input, content = 'run_text', content_rowid = 'n', columnsize = 0);
create virtual table run_output using fts5 (output, content = 'run_text', content_rowid = 'n', columnsize = 0);

insert into run_input (rowid, input) select n, input from run_text;
insert into run_output (rowid, output)
select t.n, t.output from run_text t join run r on r.n = t.n where r.finished_at is not null;

create index call_of_tool on call (substr(ref, 1, instr(ref || '@', '@') - 1), at);

create index vote_of_approver on vote (approver, at);
