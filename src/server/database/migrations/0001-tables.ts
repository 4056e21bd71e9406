import type { Dialect } from '../dialect.ts'

export const firstTables = ({ text, integer, counter }: Dialect['types']): readonly string[] => [
  `create table resources (
    id ${text} primary key,
    kind ${text} not null,
    family ${text} not null,
    api_version ${text} not null,
    display_name ${text} not null,
    unique_name ${text},
    spec ${text} not null,
    status ${text},
    revision ${integer} not null,
    created_at ${text} not null,
    updated_at ${text} not null,
    controller_kind ${text},
    controller_id ${text}
  )`,
  'create unique index resources_unique_name on resources (family, unique_name)',
  'create index resources_display_name on resources (kind, display_name)',
  'create index resources_kind on resources (kind, id)',

  `create table associations (
    from_id ${text} not null references resources (id) on delete cascade,
    to_id ${text} not null references resources (id) on delete cascade,
    to_kind ${text} not null,
    primary key (from_id, to_id)
  )`,
  'create index associations_to on associations (to_id)',
  `create table resource_references (
    from_id ${text} not null references resources (id) on delete cascade,
    to_id ${text} not null,
    primary key (from_id, to_id)
  )`,
  'create index resource_references_to on resource_references (to_id)',

  `create table secrets (
    key ${text} primary key,
    sealed ${text} not null,
    fingerprint ${text} not null,
    created_at ${text} not null,
    updated_at ${text} not null
  )`,
  `create table secret_uses (
    resource_id ${text} not null references resources (id) on delete cascade,
    key ${text} not null,
    primary key (resource_id, key)
  )`,
  'create index secret_uses_key on secret_uses (key)',

  `create table stacks (
    id ${text} primary key,
    name ${text} not null,
    description ${text} not null,
    created_at ${text} not null,
    updated_at ${text} not null,
    revision ${integer} not null,
    state ${text} not null,
    config ${text} not null,
    reconciled ${integer} not null,
    sources ${text} not null,
    leftovers ${text}
  )`,
  'create index stacks_name on stacks (name)',
  'create index stacks_creation on stacks (created_at, id)',
  `create table stack_resources (
    stack_id ${text} not null references stacks (id) on delete cascade,
    kind ${text} not null,
    name ${text} not null,
    resource_id ${text} not null,
    api_version ${text} not null,
    associations ${text} not null,
    lifecycle ${text} not null,
    adopted ${integer} not null,
    last_applied ${text},
    env_refs ${text} not null,
    applied_at ${text} not null,
    primary key (stack_id, kind, name)
  )`,
  'create unique index stack_resources_owner on stack_resources (resource_id)',
  `create table stack_events (
    stack_id ${text} not null,
    seq ${integer} not null,
    event ${text} not null,
    primary key (stack_id, seq)
  )`,

  `create table plans (
    id ${text} primary key,
    expires_at ${text} not null,
    body ${text} not null
  )`,
  'create index plans_expiry on plans (expires_at)',
  `create table leases (
    key ${text} primary key,
    fence ${integer} not null,
    holder ${text},
    operation ${text} not null,
    since ${text} not null,
    expires_at ${text} not null
  )`,
  `create table journals (
    number ${counter},
    id ${text} not null unique,
    stack_id ${text},
    plan_id ${text} not null,
    started_by ${text} not null,
    committed ${integer} not null
  )`,
  `create table journal_steps (
    journal_id ${text} not null references journals (id) on delete cascade,
    seq ${integer} not null,
    platform ${text} not null,
    write ${text} not null,
    before ${text},
    state ${text} not null,
    resource_id ${text},
    revision ${integer},
    primary key (journal_id, seq)
  )`,

  `create table tokens (
    id ${text} primary key,
    name ${text} not null,
    role ${text} not null,
    machine ${text},
    hash ${text} not null,
    created_at ${text} not null,
    expires_at ${text},
    revoked_at ${text}
  )`,
  `create table audit (
    seq ${counter},
    at ${text} not null,
    who ${text} not null,
    role ${text} not null,
    action ${text} not null,
    target ${text} not null,
    status ${integer} not null,
    detail ${text} not null
  )`,
  `create table feed (
    seq ${counter},
    at ${text} not null,
    what ${text} not null,
    kind ${text} not null,
    id ${text} not null,
    name ${text} not null,
    revision ${integer} not null
  )`,
]
