# One image for every process of both projects: the command decides. docker-compose.yml lists the commands.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1
# pg_dump and pg_restore of the same major version as the server of docker-compose.yml: backups need them.
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-common ca-certificates \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install --yes --no-install-recommends postgresql-client-16 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Files with other hashes than those that were looked at are refused.
COPY requirements.lock ./
RUN pip install --require-hashes --no-deps -r requirements.lock
COPY . .

# The code belongs to root, so that a process cannot change it; what it writes goes to /data.
RUN useradd --uid 10001 --no-create-home annotate \
    && install --directory --owner=annotate --group=annotate --mode=700 /data
USER annotate
ENV DATA_DIR=/data HOME=/data LOG_FORMAT=json
VOLUME /data
# Static files are found in the source tree and served by the web processes; nothing is collected here, and no
# setting, so no secret either, is needed to build the image.
EXPOSE 8000 8001
CMD ["gunicorn", "annotate.wsgi", "--config", "ops/gunicorn.py", "--bind", "0.0.0.0:8000"]
