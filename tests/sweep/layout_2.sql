BEGIN TRANSACTION;
CREATE TABLE points (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, content_hash TEXT NOT NULL, version TEXT NOT NULL,
    alpha REAL NOT NULL, K INTEGER NOT NULL, method TEXT NOT NULL, lam REAL, missing TEXT NOT NULL,
    solver TEXT NOT NULL, start INTEGER NOT NULL, masks TEXT NOT NULL, mask_seed INTEGER NOT NULL,
    pattern TEXT NOT NULL, draws TEXT NOT NULL, seed INTEGER NOT NULL, dtype TEXT NOT NULL,
    max_outer INTEGER NOT NULL, max_inner INTEGER NOT NULL, tol_inner REAL NOT NULL, tol_outer REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'failed')),
    run INTEGER REFERENCES runs,
    rmse_hidden REAL, rmse_observed REAL, squared_error REAL, adversarial_loss REAL,
    n_iter INTEGER, converged INTEGER, seconds REAL, finished REAL, error TEXT
) WITHOUT ROWID;
INSERT INTO "points" VALUES('1a745171ba7168e3880eead381bfa8f3','lfw','hash','6',3.33333333333333314829e-01,5,'nmf',NULL,'ignore','fast',0,'seeded',0,'entries','seeded',0,'float32',100,1000,0.01,0.01,'done',1,1.33333333333333331482e-01,0.25,10.0,20.0,7,1,0.125,1.79496388807288837427e+09,NULL);
INSERT INTO "points" VALUES('304483ff02bfe18ad371bc2e34b45863','lfw','hash','6',0.5,4,'nmf',NULL,'ignore','fast',0,'seeded',0,'entries','seeded',0,'float32',100,1000,0.01,0.01,'done',2,1.33333333333333331482e-01,0.25,10.0,20.0,7,1,0.125,1.79496388807420873641e+09,NULL);
INSERT INTO "points" VALUES('869c18a55bd531431c82afb8b69b5be7','lfw','hash','6',3.33333333333333314829e-01,5,'atnmf',2.0,'ignore','fast',1,'seeded',0,'entries','seeded',0,'float32',100,1000,0.01,0.01,'waiting',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "points" VALUES('86a02ad3fce06cb90c7e6904e3f6c106','lfw','hash','6',3.33333333333333314829e-01,5,'nmf',NULL,'ignore','fast',1,'seeded',0,'entries','seeded',0,'float32',100,1000,0.01,0.01,'failed',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1.794963888073187828e+09,'MemoryError: too large');
INSERT INTO "points" VALUES('b43452c5231e553848ae52268485f62c','lfw','hash','6',3.33333333333333314829e-01,5,'atnmf',2.0,'ignore','fast',0,'seeded',0,'entries','seeded',0,'float32',100,1000,0.01,0.01,'done',1,NULL,0.25,10.0,20.0,7,0,0.125,1.7949638880730779171e+09,NULL);
INSERT INTO "points" VALUES('b7fd47424ebf43007b785b7fa9e33134','moffet','other hash','6',0.5,3,'nmf',NULL,'zero','paper',0,'paper',0,'entries','paper',0,'float32',100,1000,0.01,0.01,'done',3,1.33333333333333331482e-01,0.25,10.0,20.0,7,1,0.125,1.79496388808715295797e+09,NULL);
CREATE TABLE queue (sweep INTEGER PRIMARY KEY REFERENCES sweeps, asked REAL NOT NULL);
INSERT INTO "queue" VALUES(1,1794963888.08734);
CREATE TABLE runners (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pid INTEGER NOT NULL, host TEXT NOT NULL, process_born TEXT NOT NULL, alive REAL NOT NULL
);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps,
    pid INTEGER NOT NULL, host TEXT NOT NULL, process_born TEXT NOT NULL,
    started REAL NOT NULL, alive REAL NOT NULL, ended REAL,
    outcome TEXT CHECK (outcome IN ('finished', 'stopped', 'failed')), message TEXT
);
INSERT INTO "runs" VALUES(1,1,22912,'host','233184',1.79496388807224893568e+09,1.79496388807224893568e+09,1.79496388807341313359e+09,'stopped','stopped by the user');
INSERT INTO "runs" VALUES(2,2,22912,'host','233184',1.79496388807380700112e+09,1.79496388807380700112e+09,1.79496388807429718974e+09,'finished',NULL);
INSERT INTO "runs" VALUES(3,3,22912,'host','233184',1.79496388807462620737e+09,1.79496388807462620737e+09,1.79496388808724784851e+09,'finished',NULL);
CREATE TABLE sweep_points (
    sweep INTEGER NOT NULL REFERENCES sweeps, position INTEGER NOT NULL, key TEXT NOT NULL REFERENCES points,
    PRIMARY KEY (sweep, position)
) WITHOUT ROWID;
INSERT INTO "sweep_points" VALUES(1,0,'1a745171ba7168e3880eead381bfa8f3');
INSERT INTO "sweep_points" VALUES(2,0,'304483ff02bfe18ad371bc2e34b45863');
INSERT INTO "sweep_points" VALUES(1,3,'869c18a55bd531431c82afb8b69b5be7');
INSERT INTO "sweep_points" VALUES(1,2,'86a02ad3fce06cb90c7e6904e3f6c106');
INSERT INTO "sweep_points" VALUES(1,1,'b43452c5231e553848ae52268485f62c');
INSERT INTO "sweep_points" VALUES(3,0,'b7fd47424ebf43007b785b7fa9e33134');
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, content_hash TEXT NOT NULL,
    created REAL NOT NULL
);
INSERT INTO "sweeps" VALUES(1,'own','{
  "dataset": "lfw",
  "alphas": [
    0.3333333333333333
  ],
  "Ks": [
    5
  ],
  "lams": [
    2.0
  ],
  "methods": [
    "nmf",
    "atnmf"
  ],
  "missing": [
    "ignore"
  ],
  "solver": "fast",
  "starts": 2,
  "masks": "seeded",
  "mask_seed": 0,
  "pattern": "entries",
  "draws": "seeded",
  "seed": 0,
  "dtype": "float32",
  "max_outer": 100,
  "max_inner": 1000,
  "tol_inner": 0.01,
  "tol_outer": 0.01
}','hash',1.79496388807183837894e+09);
INSERT INTO "sweeps" VALUES(2,'reproduce cbcl, mine','{
  "dataset": "lfw",
  "alphas": [
    0.5
  ],
  "Ks": [
    4
  ],
  "lams": [],
  "methods": [
    "nmf"
  ],
  "missing": [
    "ignore"
  ],
  "solver": "fast",
  "starts": 1,
  "masks": "seeded",
  "mask_seed": 0,
  "pattern": "entries",
  "draws": "seeded",
  "seed": 0,
  "dtype": "float32",
  "max_outer": 100,
  "max_inner": 1000,
  "tol_inner": 0.01,
  "tol_outer": 0.01
}','hash',1.79496388807368135454e+09);
INSERT INTO "sweeps" VALUES(3,'reproduce moffet, zero, da4851bd','{
  "dataset": "moffet",
  "alphas": [
    0.5
  ],
  "Ks": [
    3
  ],
  "lams": [],
  "methods": [
    "nmf"
  ],
  "missing": [
    "zero"
  ],
  "solver": "paper",
  "starts": 1,
  "masks": "paper",
  "mask_seed": 0,
  "pattern": "entries",
  "draws": "paper",
  "seed": 0,
  "dtype": "float32",
  "max_outer": 100,
  "max_inner": 1000,
  "tol_inner": 0.01,
  "tol_outer": 0.01
}','other hash',1.79496388807451534271e+09);
CREATE INDEX sweep_points_by_key ON sweep_points (key);
CREATE VIEW summary AS
WITH spread AS (
    SELECT sweeps.name AS sweep, points.*,
        AVG(rmse_hidden) OVER (
            PARTITION BY sweeps.id, version, alpha, K, method, lam, missing, solver, dtype
        ) AS centre
    FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id JOIN points USING (key)
    WHERE status = 'done'
)
SELECT sweep, dataset, version, alpha, K, method, lam, missing, solver, dtype, COUNT(*) AS starts,
    AVG(rmse_hidden) AS rmse_hidden,
    CASE WHEN COUNT(*) > 1
        THEN SQRT(SUM((rmse_hidden - centre) * (rmse_hidden - centre)) / (COUNT(*) - 1))
    END AS rmse_hidden_sd,
    AVG(rmse_observed) AS rmse_observed, AVG(seconds) AS seconds, AVG(n_iter) AS n_iter,
    MAX(finished) AS finished
FROM spread GROUP BY sweep, version, alpha, K, method, lam, missing, solver, dtype;
COMMIT;
PRAGMA user_version = 2;
