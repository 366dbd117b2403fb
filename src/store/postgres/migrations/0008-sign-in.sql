-- Sessions of people whom an identity provider names, in browsers and on the command line.
alter table console_session add column purpose text not null default 'console';
-- What the provider said, as JSON; null without one.
alter table console_session add column provider text;
-- SHA-256 of the sign-in at the provider: it makes one session.
alter table console_session add column sign_in text;
alter table console_session add column expires_at bigint;
create unique index console_session_of_sign_in on console_session (sign_in);
