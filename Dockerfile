# One image for every process of both projects: the command decides. docker-compose.yml lists the commands.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1
WORKDIR /app
COPY requirements.txt constraints.txt ./
RUN pip install -r requirements.txt
COPY . .

# The code belongs to root, so that a process cannot change it; what it writes goes to /data.
RUN useradd --uid 10001 --no-create-home annotate \
    && install --directory --owner=annotate --group=annotate --mode=700 /data
USER annotate
ENV DATA_DIR=/data MARKETPLACE_DATA_DIR=/data HOME=/data
VOLUME /data
# Static files are found in the source tree and served by the web processes; nothing is collected here, and no
# setting, so no secret either, is needed to build the image.
EXPOSE 8000 8001
CMD ["gunicorn", "annotate.wsgi", "--config", "ops/gunicorn.py", "--bind", "0.0.0.0:8000"]
