/** The account of this sandbox: one database holds one account. */
export const accountId = 'acc_01hk2q5m8r4t6v9x2b5n7m3k1h';
